"""Who says what in the transcript of the commands, and what was said in the two weeks before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.support.onebot import AHE, GROUP, MILI

DOUSHA, KEEPER = 3417085926, 1905527384
MEMBERS, ADMINS, SUPERUSERS, PRIVATE, SLIPS = (
    *("人人可用", "群主和管理员", "机器人管理员", "私聊里", "写错了、不许的时候"),
)


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

    @property
    def person(self) -> Person:
        """Return the asker."""
        return PEOPLE[self.who]


@dataclass(frozen=True)
class Proposal:
    """A line of a model's answer to an evolution; ``of`` is the beginning of the belief that it changes."""

    action: str
    statement: str
    lines: Sequence[int]
    reason: str
    of: str = ""


@dataclass(frozen=True)
class Rules:
    """What was said about the group's rules so many days ago, and what an evolution made of it then."""

    days_ago: int
    said: Sequence[tuple[str, str]]
    proposals: Sequence[Proposal]


PEOPLE: Mapping[str, Person] = {
    "member": Person(MILI, "米粒", "群成员"),
    "admin": Person(AHE, "阿禾", "群管理员", "admin"),
    "owner": Person(KEEPER, "掌柜", "机器人管理员"),
    "other": Person(DOUSHA, "豆沙", "群成员"),
}
CHAT: Sequence[tuple[str, str]] = (
    ("member", "我对花生过敏，聚餐别点带花生的菜"),
    ("admin", "我喜欢沈从文，最近在读《边城》"),
    ("other", "我家的猫叫豆包，三岁了"),
    ("member", "哈哈哈"),
    ("admin", "读书会每周三晚上七点半在青石巷咖啡馆"),
    ("other", "我下个月要去苏州出差"),
    ("member", "我周末在学摄影"),
    ("admin", "好的好的"),
    ("other", "我不吃香菜"),
    ("member", "我住在青石巷附近"),
    ("admin", "我每天早上跑步"),
    ("other", "我在出版社做编辑"),
    ("member", "我喜欢下雨天"),
    ("admin", "下周三读书会轮到我带书"),
    ("other", "我有两个孩子，大的上小学"),
    ("member", "我在准备四月的马拉松"),
    ("admin", "我最怕剧透"),
    ("other", "我会弹吉他"),
    ("member", "我不喝咖啡，喝茶"),
    ("admin", "我周五晚上有空"),
)
FILLERS = ("好", "哈哈", "收到", "晚点说", "赞", "嗯嗯", "[图片]", "在路上了")
DAYS = (3, 11, 0, 7, 18, 12, 9, 26, 4, 0, 15, 21, 8, 13)
RULES: Sequence[Rules] = (
    Rules(
        11,
        (
            ("admin", "以后读书会每周三晚上七点半在青石巷咖啡馆"),
            ("member", "好，每周三晚上七点半，青石巷咖啡馆"),
            ("other", "还有，书没读完的人在场时不说结局"),
            ("member", "对，有人没读完就不说结局"),
            ("admin", "迟到的人请大家喝茶"),
            ("other", "行，迟到的人请喝茶"),
        ),
        (
            Proposal("create", "读书会每周三晚上七点半在青石巷咖啡馆", (1, 2), "两个人都说了"),
            Proposal("create", "有人书没读完时不说结局", (3, 4), "两个人都说了"),
            Proposal("create", "迟到的人请大家喝茶", (5, 6), "两个人都说了"),
        ),
    ),
    Rules(
        4,
        (
            ("admin", "以后读书会改到每周四晚上七点半，还是青石巷咖啡馆"),
            ("other", "好，每周四晚上七点半，青石巷咖啡馆"),
        ),
        (Proposal("update", "读书会每周四晚上七点半在青石巷咖啡馆", (1, 2), "改了日子", "读书会每周三"),),
    ),
)
PORTRAITS: Mapping[str, str] = {
    f"members/{GROUP}/{MILI}.md": f"""---
entity_type: member
entity_id: "{MILI}"
group_id: "{GROUP}"
name: 米粒
tags: [爱看书, 对花生过敏, 学摄影 📷, 周四有空]
updated_at: "$NOW"
source_event_id: ""
---
## 基本情况
- 住在青石巷附近，周四晚上常来读书会。
- 养了一只叫芝麻的猫，怕打雷 ⛈️。

## 喜好
- 喜欢**沈从文**，正在读《边城》；不喜欢被剧透，尤其是结局。
- 聚餐时请避开花生和含花生油的菜，沙茶酱、凉拌菜里的花生碎也算。

## 近况
- 周末在学摄影，打算四月去拍樱花 🌸。
""",
    f"groups/{GROUP}.md": f"""---
entity_type: group
entity_id: "{GROUP}"
name: 山脚读书会
tags: [读书, 线下聚会, 不剧透]
updated_at: "$NOW"
source_event_id: ""
---
## 规矩
- 每周四晚上七点半，青石巷咖啡馆；迟到的人请大家喝茶 🍵。
- 书没读完的人在场时，不说结局。

## 现状
- 正在读《边城》，下一本在《活着》和《呼兰河传》里选。

## 成员
- 阿禾(2156083317)：组织者；米粒(2680914375)：订座位、管账。
""",
}
ASKED: Sequence[Asked] = (
    Asked(MEMBERS, "member", "/记忆 帮助"),
    Asked(MEMBERS, "member", "/记忆 状态", "status", before=("我今天买了一台二手相机", "周六去河边试试")),
    Asked(MEMBERS, "member", "/记忆 状态 -t", note="只要文字："),
    Asked(MEMBERS, "member", "/记忆 爬楼 两天"),
    Asked(MEMBERS, "member", "/记忆 为什么"),
    Asked(MEMBERS, "member", "/记忆 整理"),
    Asked(MEMBERS, "member", "/记忆 列表", pause=3.0),
    Asked(MEMBERS, "member", "/记忆 详情 1"),
    Asked(MEMBERS, "member", "/记忆 搜索 花生"),
    Asked(MEMBERS, "member", "/记忆 记住 我周四要值班，晚到半小时"),
    Asked(MEMBERS, "member", "/记忆 置顶列表"),
    Asked(MEMBERS, "member", "/记忆 更正 1 我周四不值班了，准时到"),
    Asked(MEMBERS, "member", "/记忆 忘掉 1"),
    Asked(MEMBERS, "member", "/记忆 侧写", "profile"),
    Asked(MEMBERS, "member", "/记忆 侧写 -t"),
    Asked(MEMBERS, "admin", "/记忆 群侧写", "group", before=("周四见",)),
    Asked(MEMBERS, "member", "/记忆 共享 on"),
    Asked(MEMBERS, "member", "/记忆 无痕 60"),
    Asked(MEMBERS, "member", "/记忆 无痕 0"),
    Asked(MEMBERS, "other", "/记忆 搜索 苏州"),
    Asked(MEMBERS, "other", "/记忆 忘掉 1"),
    Asked(MEMBERS, "other", "/记忆 列表 已忘"),
    Asked(MEMBERS, "other", "/记忆 恢复 1"),
    Asked(MEMBERS, "other", "/记忆 别记我"),
    Asked(MEMBERS, "other", "/记忆 可以记我"),
    Asked(MEMBERS, "other", "/记忆 忘记我"),
    Asked(MEMBERS, "other", "/记忆 忘记我", note="一分钟内再发一次："),
    Asked(ADMINS, "admin", "/memory help"),
    Asked(ADMINS, "admin", "/记忆 置顶 读书会改到周四晚上七点半"),
    Asked(ADMINS, "admin", "/记忆 总结 10"),
    Asked(ADMINS, "admin", "/记忆 群记忆"),
    Asked(ADMINS, "admin", "/记忆 演进 1", note="一条的来历，从最早的一版起："),
    Asked(ADMINS, "admin", "/记忆 变更 14"),
    Asked(ADMINS, "admin", "/memory beliefs", note="看过来历以后，要动哪一条先再看一次列表："),
    Asked(ADMINS, "admin", "/记忆 淘汰 3"),
    Asked(ADMINS, "admin", "/记忆 群记忆", note="淘汰的排在最后："),
    Asked(ADMINS, "admin", "/记忆 恢复 3"),
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
    Asked(SUPERUSERS, "owner", f"/记忆 查看 {MILI}"),
    Asked(SUPERUSERS, "owner", f"/记忆 回滚 {MILI}"),
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
