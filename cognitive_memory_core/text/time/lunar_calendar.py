"""Dates of lunar holidays in the solar years 2000 to 2049, as a table: computing them requires astronomy."""

from __future__ import annotations

from datetime import date, timedelta

_FIRST_YEAR = 2000
_DAYS_AFTER_NEW_YEARS_DAY = {
    "春节": (
        "35 23 42 31 21 39 28 48 37 25 44 33 22 40 30 49 38 27 46 35 24 42 31 21 40 28 47 36 25 43 33 22 41 "
        "30 49 38 27 45 34 23 42 31 21 40 29 47 36 25 44 32"
    ),
    "端午": (
        "157 175 165 154 173 161 150 169 159 147 166 156 174 162 152 170 160 149 168 157 176 164 153 172 161 "
        "150 169 159 148 166 155 174 163 151 170 160 150 168 157 146 165 153 172 161 151 169 158 148 166 154"
    ),
    "七夕": (
        "218 236 226 215 234 222 211 230 219 237 227 217 235 224 213 231 221 239 228 218 237 225 215 233 222 "
        "240 230 219 238 227 216 235 224 212 231 221 240 228 218 237 226 214 233 222 212 230 219 238 228 216"
    ),
    "中秋": (
        "255 273 263 253 271 260 278 267 257 275 264 254 273 261 250 269 258 276 266 255 274 263 252 271 260 "
        "278 267 257 276 264 254 273 262 250 269 258 277 266 255 274 263 252 270 259 278 267 257 276 265 253"
    ),
    "重阳": (
        "279 297 286 276 295 283 302 291 280 298 288 277 296 285 274 293 282 300 289 279 298 286 276 295 284 "
        "301 290 280 299 288 277 296 285 273 292 281 300 289 279 298 287 275 294 283 302 290 280 299 289 277"
    ),
}
_TABLE = {holiday: tuple(map(int, numbers.split())) for holiday, numbers in _DAYS_AFTER_NEW_YEARS_DAY.items()}


def lunar_holiday(holiday: str, year: int) -> date:
    """Return the day of 春节, 端午, 七夕, 中秋 or 重阳 in a solar year; raise ValueError for others."""
    days = _TABLE[holiday]
    if not 0 <= year - _FIRST_YEAR < len(days):
        raise ValueError(year)
    return date(year, 1, 1) + timedelta(days=days[year - _FIRST_YEAR])
