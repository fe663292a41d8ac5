"""One spelling for patterns to meet: half width, simplified, no accents; every character keeps its place."""

from __future__ import annotations

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_VARIANTS = (
    "週周後后個个禮礼這这點点時时幾几兩两過过剛刚現现會会兒儿邊边裡里裏里們们妳你祂他牠它對对號号從从來来為为還还"
    "說说請请開开長长間间頭头處处際际遠远愛爱歡欢厭厌習习慣惯問问應应該该東东車车飯饭學学業业電电話话嗎吗麼么誰谁"
    "’'‘'´'ʼ'〇零"
)
_ACCENTS = "àaáaâaãaäaåaçcèeéeêeëeìiíiîiïiñnòoóoôoõoöoùuúuûuüuýyÀAÁAÂAÄAÇCÈEÉEÊEËEÍIÎIÏIÑNÓOÔOÖOÙUÚUÛUÜU"
_TABLE = _FULL_WIDTH | {ord(old): ord(new) for old, new in zip(*[iter(_VARIANTS + _ACCENTS)] * 2, strict=True)}


def folded(text: str) -> str:
    """Give the text in the one spelling, as long as it was, so that a place found in it is a place in the text."""
    return text.translate(_TABLE)
