"""What the OpenAPI document says of each route, parameter and body, with examples."""

from __future__ import annotations

from collections.abc import Mapping

TITLE = "认知记忆"
DESCRIPTION = (
    "机器人的长期记忆：群记忆的演化、查看、搜索、历史、变更、淘汰与恢复，以及状态、事件、侧写、失败任务、置顶、上下文与导出。"
    "每个请求都要带请求头 Authorization: Bearer 令牌；请求正文只收 JSON。"
)
ROUTES: Mapping[str, tuple[str, str]] = {  # by the name of the route's function: title, description
    "get_status": ("状态", "队列、索引、各部件的错误、今天的调用和 token。"),
    "get_report": ("质量报告", "记了什么、看不懂的、改了口的、没人想起的、谁教得多、开销；事很多时要几秒。"),
    "list_events": ("事件", "写了 q 就搜索，最相关的在前，带分数；不写就列出，新的在前。"),
    "list_people": ("人", "每个人最近的名字、说过的记忆有几条、不让记和共享；最近见到的在前。"),
    "list_places": ("群和私聊", "每处的名字、记忆和原话各有多少；最近有动静的在前。"),
    "list_messages": (
        "原话",
        "按地方、人、日子列出聊天记录，新的在前；event_id 是由这句写成的事件，没有就是 null。",
    ),
    "correct_event": ("更正一条事件", "换成新的文字，编号也换新的；别人先改了或忘掉了就是 409，带着现在的样子。"),
    "restore_event": ("恢复一条忘掉的事件", "30 天之内；已经更正过的是 409，带着现在的样子。"),
    "forget_event": ("忘掉一条事件", "连同说出它的原话一起藏起来，30 天内可以恢复。"),
    "list_revisions": ("侧写的旧版本", "新的在前。"),
    "restore_profile": ("换回侧写的旧版本", "现在的一份成为旧版本，所以也能再换回来。"),
    "get_profile": ("侧写", "人（user）、群里的人（member，编号写成 群号/QQ 号）或群（group）。"),
    "list_failed_jobs": ("失败的任务", "早失败的在前，各带原因和该怎么办。"),
    "retry_jobs": ("重试失败的任务", "不写 job_id 就全部重试。"),
    "list_pins": ("置顶", "写 group_id 是那个群的（包括群里各人自己的）；只写 user_id 是与那个人私聊里的。"),
    "add_pin": ("新增置顶", "只写 group_id 是全群的；只写 user_id 是那个人私聊里的；都写是那个人在那个群里的。"),
    "change_pin": ("改一条置顶", "换成新的文字。"),
    "remove_pin": ("删掉一条置顶", "删掉之后不再放进上下文。"),
    "build_context": ("上下文", "这一轮应该给模型看的记忆；有部件不可用时少给，并在 degraded 里说明。"),
    "export_memory": ("导出", "JSON Lines，边读边发；写了 user_id 就只有那个人说过的话、侧写和置顶。"),
    "evolve_group": ("演化群记忆", "读这个群最近几天的消息，一次模型调用；同一个群同时只演化一次。"),
    "list_beliefs": ("群记忆", "一个群的群记忆，强的在前。"),
    "search_beliefs": ("搜索群记忆", "按意思和字面搜索有效的群记忆，最相关的在前。"),
    "belief_history": ("群记忆的演进", "这条群记忆的所有版本，最早的在前；任何一版的编号都可以问。"),
    "belief_changes": ("群记忆的变更", "最近几天对一个群的群记忆做了什么，早的在前。"),
    "retire_belief": ("淘汰一条群记忆", "以后演化也不会再写回来；可以恢复。"),
    "restore_belief": ("恢复一条群记忆", "恢复被淘汰的；给旧版本的编号，就把旧版本的话作为新的一版。"),
    "reword_belief": ("改写一条群记忆", "新的话是新的一版，不算谁说的；旧版本还在，可以换回。"),
    "set_belief_strength": ("改群记忆的强度", "0 到 1；低于 0.2 的不放进上下文。"),
}
STATUSES: Mapping[int, str] = {
    401: "没有令牌，或令牌不对",
    404: "没有这一项；别的机器人（agent）的也当作没有",
    408: "请求正文没有及时发完",
    409: "现在的状态不允许，例如正在演化、已经淘汰、别人先改了",
    413: "请求正文太大",
    415: "请求正文不是 JSON",
    422: "参数或请求正文不能用",
    429: "请求太密，或队列满了；过 Retry-After 秒再试",
    503: "记忆没有打开、已停用，或存储暂时用不了",
}
AGENT = "哪个机器人的记忆；不写为设置里的 agent"
GROUP_ID = "群号"
USER_ID = "人的编号"
MEMORY_ID = "群记忆的编号，任何一版都行"
EVENT_ID = "事件的编号"
PIN_ID = "置顶的编号"
ENTITY_ID = "人的编号、群号，或 群号/人的编号"
ENTITY_TYPE = "user 人、member 群里的人、group 群"
STATUS = "active 有效的、deprecated 淘汰的、all 都要"
LIMIT = "最多几条"
OFFSET = "跳过前面几条"
DAYS_READ = "读最近几天的消息"
EXAMINE = "读文字：看不懂的、改了口的；不读就很快"
DAYS_SHOWN = "看最近几天的"
QUESTION = "要找什么"
THRESHOLD = "至少多相关，0 到 1"
KINDS = "只要这些种类，可以写几次；message 是聊天原话；不写为全部事件"
TIME_FROM = "从什么时候起，例如 2026-03-04"
TIME_TO = "到什么时候为止；只写日期包括那一天"
REASON = "为什么淘汰"
NARROW_GROUP = "只要这个群的"
NAME_OR_ID = "只要名字里有它、或编号是它的"
SAID_BY = "只要这个人说的"
CHAT_WITH = "只要和这个人的私聊"
DAY = "只要这一天的，例如 2026-03-06，按设置里的时区"
NARROW_USER = "只要这个人说的、或说到这个人的"
EXPORTED_USER = "只要这个人的"

FRIDAY = "每周五晚上讨论新番"
LIKES_TEA = "阿棠(2000001) 喜欢乌龙茶"
PINNED = "周五聚餐"
ASKED = "阿棠喜欢喝什么"
