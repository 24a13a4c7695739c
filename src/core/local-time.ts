import { UsageError } from './errors.ts'
import { cell } from './text.ts'

/** Returns a moment as `2026-11-28 14:05`, in the zone of the user. */
export function localTime(milliseconds: number): string {
  const date = new Date(milliseconds)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/**
 * Returns the moment that an option such as `--since` names: so long ago (`12h`, `30d`, `2w`), or a date
 * with or without a time, in the zone of the user unless it names another one.
 *
 * @throws {UsageError} for any other text, a date that does not exist, and a moment to come
 */
export function sinceTime(option: string, text: string, now: number): number {
  const moment = agoTime(text, now) ?? dateTime(text)
  if (moment !== undefined && moment <= now) return moment
  const actual = text.trim() === '' ? 'empty' : cell(text, 40)
  const message =
    moment === undefined
      ? `${option} is ${actual}; expected hours, days or weeks, or a date`
      : `${option} is ${actual}, which is in the future`
  const hint = 'Such as 12h, 30d, 2w, 2026-11-01 or 2026-11-01T09:30.'
  throw new UsageError({ code: 'option-time', message, hint })
}

function agoTime(text: string, now: number): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,4})([hdw])$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const amount = Number(digits)
  const date = new Date(now)
  // A day ago is the same time of the day, also where clocks were changed in between.
  if (unit === 'h') date.setTime(now - amount * 3_600_000)
  else date.setDate(date.getDate() - amount * (unit === 'w' ? 7 : 1))
  return date.getTime()
}

function dateTime(text: string): number | undefined {
  const form = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?$/
  const [, year, month, day, hour] = form.exec(text) ?? []
  if (year === undefined) return undefined
  // `Date` accepts the 30th of February.
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > days) {
    return undefined
  }
  const moment = Date.parse(hour === undefined ? `${text}T00:00` : text)
  return Number.isNaN(moment) ? undefined : moment
}
