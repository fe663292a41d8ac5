"""Other everyday words for the same thing: a question and its answer often share none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

RELATED = 0.5  # weight of another word for the same thing, relative to the word itself
MOST = 8  # groups of one question
# Words of one or two characters, or of Latin letters: each is one term of the index.
GROUPS = (
    "碰头 碰面 见面 集合 聚会",
    "开会 会议 周会 例会",
    "收钱 收费 价钱 价格 人均 花费 费用 门票 定价",
    "付钱 付款 垫付 转账 报销 平摊",
    "工资 薪水 月薪 薪资",
    "欠钱 借钱 还钱 欠款",
    "电脑 主机 笔记 台式 显卡",
    "手机 微信 电话 短信",
    "请假 不在 缺席 休假 出差",
    "迟到 晚到 晚点",
    "换成 改成 改为 改用",
    "推迟 延期 顺延 改期 延后",
    "取消 作废 泡汤",
    "截止 期限 ddl",
    "辞职 离职 跳槽 换工",
    "上班 工作 公司 职业",
    "兼职 副业 外快 接活 接单",
    "加班 通宵 熬夜",
    "老板 领导 上司 组长",
    "面试 求职 offer",
    "考试 考研 答辩 开题 论文",
    "学校 大学 校园",
    "宿舍 寝室 室友 舍友",
    "租房 房租 搬家 合租",
    "老家 家乡",
    "媳妇 老婆 妻子 爱人",
    "老公 丈夫 爱人",
    "对象 男友 女友 恋爱",
    "孩子 小孩 闺女 女儿 儿子 宝宝",
    "父亲 爸爸 老爸 我爸",
    "母亲 妈妈 老妈 我妈",
    "结婚 婚礼 领证",
    "猫 猫咪 橘猫 喵",
    "狗 狗狗 狗子 小狗",
    "生病 发烧 感冒 不适",
    "医院 医生 看病 体检 大夫",
    "疫苗 打针 接种",
    "牙 智齿 拔牙 牙医",
    "失眠 睡着 熬夜 打呼",
    "眼睛 视力 近视 色弱 眼药",
    "恶心 想吐 反胃 吐",
    "甜 糖 甜食 糖果 甜品",
    "吃素 素食 吃肉 荤",
    "火锅 聚餐 吃饭 盒饭 下馆",
    "忌口 过敏 不吃",
    "喝酒 啤酒 白酒 酒",
    "奶茶 饮料 咖啡",
    "讨厌 反感 避雷 忌讳 烦人",
    "喜欢 爱吃 爱喝 喜爱",
    "害怕 吓人 恐怖 胆小",
    "生气 发火 吵架",
    "开心 高兴 快乐",
    "难过 伤心 哭",
    "崩溃 闪退 报错 卡死 死机 黑屏 bug 崩",
    "修好 修复 解决",
    "版本 升级 更新",
    "代码 仓库 编译",
    "密码 账号 登录",
    "声音 配音 旁白 录音",
    "音乐 歌 曲子 配乐 bgm 伴奏",
    "乐器 琴 吉他 二胡 钢琴",
    "照片 截图 图片 自拍",
    "联机 开黑 组队 双人",
    "凶手 坏人 反派 坏蛋",
    "剧透 结局",
    "酒店 宾馆 住宿 民宿",
    "机票 车票 高铁 火车",
    "开车 自驾 油费 停车",
    "规矩 群规 规定 规则",
    "投票 表决 票数",
    "快递 包裹 取件",
    "超市 商店 店里 店铺",
    "健身 跑步 锻炼 运动",
    "天气 下雨 降温",
    "书 小说 看书 读书",
    "电影 影院 看片",
    "名字 叫做 改名 昵称",
)


@dataclass(frozen=True)
class Related:
    """Words for one thing: those that a question uses, and the others."""

    asked: frozenset[str]
    others: frozenset[str]

    @property
    def term(self) -> str:
        """A term that stands for any of the other words; no text has it."""
        return f"≈{min(self.others)}"

    def is_meant_by(self, terms: AbstractSet[str]) -> bool:
        """Return whether a text with these terms uses another word for the thing, and none of the question's."""
        return not self.others.isdisjoint(terms) and self.asked.isdisjoint(terms)


_RELATED = tuple(frozenset(group.split()) for group in GROUPS)
_BY_WORD: dict[str, list[frozenset[str]]] = {}
for _group in _RELATED:
    for _word in _group:
        _BY_WORD.setdefault(_word, []).append(_group)


def related(terms: Iterable[str]) -> tuple[Related, ...]:
    """Return the groups of other words for what the terms of a question name."""
    asked = frozenset(terms)
    groups = dict.fromkeys(group for term in terms for group in _BY_WORD.get(term, ()))
    return tuple(Related(group & asked, group - asked) for group in groups if group - asked)[:MOST]


def other_words(found: Sequence[Related]) -> tuple[str, ...]:
    """Return all other words, to search for."""
    return tuple(dict.fromkeys(word for one in found for word in sorted(one.others)))


def meant(found: Sequence[Related], terms: AbstractSet[str]) -> Iterator[str]:
    """Yield the terms that stand for the things which a text names by other words."""
    return (one.term for one in found if one.is_meant_by(terms))
