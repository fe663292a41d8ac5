"""Errors of storage for the operator: the data directory, the ledger, the files, the vector store."""

from __future__ import annotations

STORAGE_REFUSED = "写不进 {path}（{reason}）：请检查磁盘空间和目录权限，这一轮没有记下"
COPY_REFUSED = "{path} 写不进去（{reason}），导出或备份没有写成：请检查那个目录在不在、能不能写，磁盘有没有空间"
DIRECTORY_IN_USE = (
    "数据目录 {path} 正被另一个机器人使用；若是两个机器人，请在各自的 .env 里加上 LOCALSTORE_USE_CWD=true"
)
DIRECTORY_VANISHED = (
    "数据目录 {path} 被删除、改名或换掉了：已停止写入，新的内容一概不收；请把原来的目录放回原处，或重启机器人"
)
LEDGER_DAMAGED = "账本 {path} 已损坏（{reason}）：什么都没有改动，请从备份恢复，或把它移走后重启"
NO_LEDGER_VERSION = "有表却没有格式号：user_version 为 0"
NOT_A_LEDGER = "只有一个字节"
LEDGER_TOO_OLD = "账本 {path} 还是旧格式（{found}，现在是 {known}）：请先启动一次机器人"
LEDGER_UNREADABLE = "读不了账本 {path}（{reason}）"
LEDGER_CLOSED = "账本已经关闭"
OPENED_READ_ONLY = "只读打开"
LOG_IN_USE = "{path} 正被别的程序读着，日志清不掉；被抹去的内容等下次清理"
JOB_TOO_LARGE = "任务有 {size} 字节，最多 {limit} 字节"
FILE_UNREADABLE = "文件读不出来（{reason}）"
JOB_NOT_UNDERSTOOD = "任务文件看不懂（{reason}）"
NOT_A_FILE = "不是普通文件"
NOT_AN_OBJECT = "应为一个 JSON 对象"
NOT_A_LIST = "应为一个 JSON 列表"
TOO_DEEP = "嵌套太深"
PROCESS_DIED = "处理它时进程结束了 {times} 次，先搁置；查明原因后可以重新排队"
REASON_UNKNOWN = "失败的原因没能写下来（当时磁盘拒绝写入）"
PROFILE_TOO_LARGE = "侧写文件太大（{size}，最多 {limit}）"
PROFILE_WITHOUT_FRONT = "文件开头没有两行 --- 之间的资料"
PROFILE_ALIAS = "资料里不能用 YAML 的 &锚点、*引用和 !标签"
PROFILE_OVERTAKEN = "这份侧写刚刚被改过，请重新读取后再写"
PROFILE_UNREADABLE = "读不到侧写 {path}（{reason}）：请检查目录权限"
INDEX_NOT_WHOLE = "向量索引还没有建好，先用精确检索"
GENERATION_GONE = "这一代向量索引已经不在了，稍后再试"
VECTOR_WITH_DIRECTION = "有限的数，且不全为零"
VECTOR_STORE_LOCKED = "另一个进程还占着 {folder}，向量索引先不开，稍后再试"
VECTOR_STORE_REFUSED = "Chroma 没有做成（{reason}），稍后再试"
VECTOR_SERVER_REFUSES = "Chroma 服务不接受令牌，请检查 COGNITIVE_MEMORY__VECTOR_STORE__TOKEN"
VECTOR_SERVER_AWAY = "连不上 Chroma 服务，请检查它是否开着，和 COGNITIVE_MEMORY__VECTOR_STORE__URL"
VECTOR_STORE_FOREIGN = (
    "Chroma 服务上的数据库 {database} 里有另一个机器人的向量，为免互相删掉，这里先不用它："
    "请给每个机器人各设一个 COGNITIVE_MEMORY__VECTOR_STORE__DATABASE；若那是这个机器人搬家之前留下的，"
    "在服务器上删掉旧的集合即可"
)
VECTOR_STORE_DIED = "Chroma 的进程结束了（状态 {status}），会重新启动"
VECTOR_STORE_HUNG = "Chroma 的进程太久没有回答，已经结束它，会重新启动"
VECTOR_STORE_BUSY = "Chroma 正忙或回答得太慢，这一次不用它"
VECTOR_STORE_CLOSED = "向量索引已经关闭"


def ledger_lost(path: object, traces: str, copies: str, mark: str) -> str:
    """Return the refusal to create a ledger where traces of an older one remain, with its copies and what to do."""
    found = f"找到的副本：{copies}（复制一份改名为 {path} 即可恢复）" if copies else "附近没有找到账本的副本"
    return (
        f"账本 {path} 不见了或是空的，旁边却还有 {traces}：没有当作新账本打开，什么都没有改动。{found}；"
        f"也可以从别处的备份恢复。若确实要从空账本开始（侧写和未处理的任务会保留），请新建空文件 {mark} 再启动"
    )


LEDGER_TOO_NEW = (
    "账本 {path} 是更新的版本写的（格式 {found}，这里只认到 {known}），需要 {release} 或更新的版本："
    "什么都没有改动，请升级插件，或按 docs/upgrading.md 换回升级前留下的副本"
)
LEDGER_OF_UNKNOWN_RELEASE = (
    "账本 {path} 是更新的版本写的（格式 {found}，这里只认到 {known}），需要更新的版本："
    "什么都没有改动，请升级插件，或按 docs/upgrading.md 换回升级前留下的副本"
)
ROWS_DAMAGED = (
    "账本有 {count} 处坏了（{first}）：其余照常，坏的可能找不到、读不出或变了样。"
    "请停下机器人，复制整个数据目录，再从备份恢复"
)
NEWER_VERSION = "由更新的版本写下（{version!r:.60}），升级后可以重新排队"


PROFILE_OF_ANOTHER = "文件里写的是 {stated!r:.60}，和它所在的位置 {expected} 不是同一份侧写"
PROFILE_RESTORED = "侧写文件读不出来（{reason}），原样留在 {path}，已换上最近一个读得出的版本"
PROFILE_LOST = "侧写文件读不出来（{reason}），原样留在 {path}，没有读得出的旧版本"
VECTOR_STORE_MISSING = "没有能用的 chromadb（{reason}），向量检索改用精确搜索；装好后重启即可"
