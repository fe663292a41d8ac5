"""Who says what in the transcript of the commands; what was said before is the sample month of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MEMBER, KEEPER = 3_100_003, 1_905_527_384
MEMBERS, ADMINS, SUPERUSERS, PRIVATE, SLIPS = (
    *("人人可用", "群主和管理员", "机器人管理员", "私聊里", "写错了、不许的时候"),
)
ASKS, ANSWER = "大聚定在哪天？", "12 月 26 日上午十点，城西咖啡馆，全天。"
WHY = f"先问机器人“{ASKS}”，它（这里是一个照稿回答的聊天插件）说“{ANSWER}”；再回复它这一句："


@dataclass(frozen=True)
class Person:
    """Somebody who uses commands."""

    id: int
    name: str
    rank: str
    role: str = "member"


@dataclass(frozen=True)
class Asked:
    """A command, the lines that its asker says before it, and the name of the picture that answers it."""

    chapter: str
    who: str
    text: str
    picture: str = ""
    before: Sequence[str] = ()
    note: str = ""
    is_private: bool = False
    pause: float = 0.0
    replies: bool = False  # to the bot's latest message

    @property
    def person(self) -> Person:
        """Return the asker."""
        return PEOPLE[self.who]


PEOPLE: Mapping[str, Person] = {
    "member": Person(MEMBER, "豆包", "群成员"),
    "admin": Person(3_100_001, "可乐", "群主", "owner"),
    "owner": Person(KEEPER, "掌柜", "机器人管理员"),
    "other": Person(3_100_002, "阿梨", "群成员"),
}
ASKED: Sequence[Asked] = (
    Asked(MEMBERS, "member", "/记忆 帮助"),
    Asked(MEMBERS, "member", "/记忆 状态", "status", before=("我今天买了一副新牌套", "周日带来试试")),
    Asked(MEMBERS, "member", "/记忆 状态 -t", note="只要文字："),
    Asked(MEMBERS, "member", "/记忆 爬楼 两天"),
    Asked(MEMBERS, "member", "/记忆 为什么", before=(ASKS,), note=WHY, pause=3.0, replies=True),
    Asked(MEMBERS, "member", "/记忆 整理"),
    Asked(MEMBERS, "member", "/记忆 列表", pause=3.0),
    Asked(MEMBERS, "member", "/记忆 详情 5"),
    Asked(MEMBERS, "member", "/记忆 搜索 花生"),
    Asked(MEMBERS, "member", "/记忆 记住 我这周日值夜班，四点先走"),
    Asked(MEMBERS, "member", "/记忆 置顶列表"),
    Asked(MEMBERS, "member", "/记忆 更正 3 我这周日不值班了，待到最后"),
    Asked(MEMBERS, "member", "/记忆 忘掉 3"),
    Asked(MEMBERS, "member", "/记忆 侧写", "profile"),
    Asked(MEMBERS, "member", "/记忆 侧写 -t"),
    Asked(MEMBERS, "admin", "/记忆 群侧写", "group", before=("周日见",)),
    Asked(MEMBERS, "member", "/记忆 共享 on"),
    Asked(MEMBERS, "member", "/记忆 无痕 60"),
    Asked(MEMBERS, "member", "/记忆 无痕 0"),
    Asked(MEMBERS, "other", "/记忆 搜索 海报"),
    Asked(MEMBERS, "other", "/记忆 忘掉 1"),
    Asked(MEMBERS, "other", "/记忆 列表 已忘"),
    Asked(MEMBERS, "other", "/记忆 恢复 1"),
    Asked(MEMBERS, "other", "/记忆 别记我"),
    Asked(MEMBERS, "other", "/记忆 可以记我"),
    Asked(MEMBERS, "other", "/记忆 忘记我"),
    Asked(MEMBERS, "other", "/记忆 忘记我", note="一分钟内再发一次："),
    Asked(ADMINS, "admin", "/memory help"),
    Asked(ADMINS, "admin", "/记忆 置顶 大聚：12 月 26 日上午十点，城西咖啡馆"),
    Asked(ADMINS, "admin", "/记忆 总结 10"),
    Asked(ADMINS, "admin", "/记忆 群记忆"),
    Asked(ADMINS, "admin", "/记忆 演进 1", note="一条的来历，从最早的一版起："),
    Asked(ADMINS, "admin", "/记忆 变更 30"),
    Asked(ADMINS, "admin", "/memory beliefs", note="看过来历以后，要动哪一条先再看一次列表："),
    Asked(ADMINS, "admin", "/记忆 淘汰 3"),
    Asked(ADMINS, "admin", "/记忆 群记忆", note="淘汰的排在最后："),
    Asked(ADMINS, "admin", "/记忆 恢复 7"),
    Asked(ADMINS, "admin", "/记忆 演化", note="这个机器人没有模型："),
    Asked(ADMINS, "admin", "/记忆 建议"),
    Asked(ADMINS, "admin", "/记忆 只记"),
    Asked(ADMINS, "admin", "/记忆 只忆"),
    Asked(ADMINS, "admin", "/记忆 关"),
    Asked(ADMINS, "admin", "/记忆 关 2小时", note="到时候自己恢复："),
    Asked(ADMINS, "member", "/记忆 状态 -t"),
    Asked(ADMINS, "admin", "/记忆 只记 到后天早上8点"),
    Asked(ADMINS, "admin", "/记忆 开"),
    Asked(ADMINS, "admin", "/记忆 清空"),
    Asked(SUPERUSERS, "owner", "/记忆 统计", "stats"),
    Asked(SUPERUSERS, "owner", "/记忆 统计 -t"),
    Asked(SUPERUSERS, "owner", "/记忆 队列"),
    Asked(SUPERUSERS, "owner", "/记忆 失败"),
    Asked(SUPERUSERS, "owner", "/记忆 重试"),
    Asked(SUPERUSERS, "owner", f"/记忆 查看 {MEMBER}"),
    Asked(SUPERUSERS, "owner", f"/记忆 回滚 {MEMBER}"),
    Asked(SUPERUSERS, "owner", "/记忆 配置"),
    Asked(SUPERUSERS, "owner", "/记忆 停"),
    Asked(SUPERUSERS, "owner", "/记忆 启"),
    Asked(SUPERUSERS, "owner", "/记忆 重建索引"),
    Asked(SUPERUSERS, "owner", "/记忆 补课 100", note="这个协议端没有历史消息："),
    Asked(SUPERUSERS, "owner", "/记忆 日报", "daily", is_private=True),
    Asked(SUPERUSERS, "owner", "/记忆 控制台", is_private=True),
    Asked(PRIVATE, "member", "/记忆 列表", is_private=True),
    Asked(PRIVATE, "member", "/记忆 群侧写", is_private=True),
    Asked(PRIVATE, "member", "/记忆 导出", is_private=True),
    Asked(PRIVATE, "member", "/记忆 清空", is_private=True),
    Asked(SLIPS, "member", "/记忆 随便"),
    Asked(SLIPS, "member", "/记忆 列表 99999"),
    Asked(SLIPS, "member", "/记忆 搜索 花生 -n 很多"),
    Asked(SLIPS, "member", "/记忆 状态 列表"),
    Asked(SLIPS, "member", "/记忆 忘掉 88"),
    Asked(SLIPS, "member", "/记忆 关"),
    Asked(SLIPS, "admin", "/记忆 关 一会儿"),
    Asked(SLIPS, "admin", "/记忆 关 到昨天"),
    Asked(SLIPS, "member", "/记忆 统计"),
    Asked(SLIPS, "member", "/记忆 导出"),
)
