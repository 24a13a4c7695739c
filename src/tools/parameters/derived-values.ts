import { plainWords } from '#rank/words'

/**
 * Whether a value follows from a request by one of the rules here: a number in words, a duration in another unit, a time
 * zone by its city, a date with the name of its month, a language by its name, and an address without its scheme.
 *
 * @param part a text of the request that the rule must use; default: any
 */
export function derivesFrom(value: string, request: string, part?: string): boolean {
  return rules.some((rule) =>
    rule(value, request).some(
      (used) => part === undefined || plainWords(used).includes(part.toLowerCase()),
    ),
  )
}

/** Returns the parts of the request from which the value follows. */
type DerivationRule = (value: string, request: string) => string[]

const numerals = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')

const numberInWords: DerivationRule = (value, request) => {
  const word = /^\d{1,2}$/.test(value) ? numerals[Number(value)] : undefined
  return word !== undefined && plainWords(request).includes(word) ? [word] : []
}

const milliseconds: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
}

const spoken =
  /(?:(\d{1,9}(?:\.\d{1,3})?)\s{0,3}|\b(?:last|past|next|an?|one)\s{1,3})(millisecond|second|minute|hour|day|week)s?\b/gi

/** `10m`, `10 min`, `600`, `600000` and `PT10M` for `10 minutes`. */
const duration: DerivationRule = (value, request) =>
  [...request.matchAll(spoken)].flatMap(([phrase, digits = '1', unit = '']) => {
    const name = unit.toLowerCase()
    const total = Number(digits) * (milliseconds[name] ?? 0)
    const [, amount = '', short = ''] =
      /^p?t?(\d{1,12}(?:\.\d{1,3})?)\s?([a-z]{0,12})$/i.exec(value) ?? []
    const isSameUnit = short !== '' && Number(amount) === Number(digits) && isShort(short, name)
    const isTotal =
      short === '' && [1, 1000, 60_000].some((size) => Number(amount) * size === total)
    return isSameUnit || (amount !== '' && isTotal) ? [phrase] : []
  })

function isShort(short: string, unit: string): boolean {
  const lower = short.toLowerCase()
  return lower === 'ms' ? unit === 'millisecond' : unit.startsWith(lower.replace(/s$/, '') || 's')
}

let zones: ReadonlySet<string> | undefined

/** `Asia/Tokyo` for `Tokyo`. */
const timeZone: DerivationRule = (value, request) => {
  if (!/^[A-Z]\w+(?:\/[\w+-]+)+$/.test(value)) return []
  zones ??= new Set(Intl.supportedValuesOf('timeZone'))
  const city = value.split('/').at(-1)?.replaceAll('_', ' ') ?? ''
  return zones.has(value) && request.toLowerCase().includes(city.toLowerCase()) ? [city] : []
}

/** `2026-03-05` for `March 5, 2026`, and `2026-03` for `March 2026`. */
const date: DerivationRule = (value, request) => {
  const [, year = '', month = '', day] = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/.exec(value) ?? []
  if (year === '' || Number(month) < 1 || Number(month) > 12) return []
  const inMonth = new Date(Date.UTC(2000, Number(month) - 1, 1))
  const name = inMonth.toLocaleDateString('en', { month: 'long', timeZone: 'UTC' }).toLowerCase()
  const words = plainWords(request)
  const isMonth = words.some((word) => word === name || word === name.slice(0, 3))
  const isDay =
    day === undefined ||
    words.some((word) => word.replace(/(?:st|nd|rd|th)$/, '') === String(Number(day)))
  return isMonth && isDay && words.includes(year)
    ? [`${name} ${name.slice(0, 3)} ${Number(day)} ${year}`]
    : []
}

/** `14:00` for `2 pm`. */
const time: DerivationRule = (value, request) => {
  const [, hours = '', minutes = ''] = /^([01]\d|2[0-3]):([0-5]\d)(?::00)?$/.exec(value) ?? []
  const spokenTimes = [...request.matchAll(/(?<![\w:.])(\d{1,2})(?::(\d{2}))?\s?([ap])\.?m\b/gi)]
  return spokenTimes.flatMap(([text, hour = '', minute = '00', half = '']) => {
    const isAfternoon = half.toLowerCase() === 'p'
    const total = (Number(hour) % 12) + (isAfternoon ? 12 : 0)
    return hours !== '' && total === Number(hours) && minute === minutes ? [text] : []
  })
}

let languages: Intl.DisplayNames | undefined

/** `de` for `German`. */
const language: DerivationRule = (value, request) => {
  if (!/^[a-z]{2}$/.test(value)) return []
  languages ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  const name = languages.of(value)?.toLowerCase()
  return name !== undefined && plainWords(request).includes(name) ? [name] : []
}

/** `https://example.com` for `example.com`. */
const address: DerivationRule = (value, request) => {
  const [, whole = ''] = /^https?:\/\/(?:www\.)?(\S+)$/i.exec(value) ?? []
  const host = whole.endsWith('/') ? whole.slice(0, -1) : whole
  const [name = ''] = host.split('/')
  const isSaid =
    name.slice(1).includes('.') &&
    request
      .toLowerCase()
      .split(/[\s"'`<>()]+/)
      .some((piece) => piece.replace(/(?<![.,;:!?])[.,;:!?]+$/, '') === host.toLowerCase())
  return isSaid ? [host] : []
}

const rules: readonly DerivationRule[] = [
  numberInWords,
  duration,
  timeZone,
  date,
  time,
  language,
  address,
]
