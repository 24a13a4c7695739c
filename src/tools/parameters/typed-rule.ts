import type { JsonValue } from '../../skill/model.ts'
import { coerceText } from './coerce.ts'
import type { Parameter } from './parameter.ts'
import { type Finding, freeSlots, type MappingRule, type RequestReading } from './request.ts'
import type { Slot, SlotKind } from './slots.ts'

interface TypedParameter {
  /** Which parameters want a piece of this kind: by name, or by the schema's `format`. */
  name: RegExp
  format?: RegExp
  kinds: readonly SlotKind[]
  /** What of the piece is the value; default all of it. */
  take?: (slot: Slot) => string | undefined
}

/** Parameters that ask for something with a form of its own; the first row that fits decides. */
const typedParameters: readonly TypedParameter[] = [
  {
    name: /^(?:ur[il]|href|link|website|web_?page|endpoint|address|page_?url|.*_?ur[il])$/i,
    format: /^ur[il]/,
    kinds: ['url'],
    take: ({ value }) => (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(value) ? value : withScheme(value)),
  },
  { name: /^(?:e_?mail|recipient|to_?email|email_?address)$/i, format: /email/, kinds: ['email'] },
  { name: /^owner$/i, kinds: ['repository'], take: ({ value }) => value.split('/')[0] },
  { name: /^repo(?:_?name)?$/i, kinds: ['repository'], take: ({ value }) => value.split('/')[1] },
  { name: /^(?:repository|repo_?full_?name|full_?name)$/i, kinds: ['repository'] },
  { name: /^width$/i, kinds: ['size'], take: ({ value }) => value.split(/\s?[x×]\s?/)[0] },
  { name: /^height$/i, kinds: ['size'], take: ({ value }) => value.split(/\s?[x×]\s?/)[1] },
  { name: /^(?:sql|query|statement|sql_?query)$/i, kinds: ['sql'] },
  { name: /^(?:uid|ref|element_?id|from_uid|target)$/i, kinds: ['uid'] },
  {
    name: /^(?:since|after|from|start(?:_?date)?|date|day|as_?of|until|before|to|end(?:_?date)?|.*_date)$/i,
    format: /^date/,
    kinds: ['date'],
  },
  {
    name: /^(?:(?:file|dir(?:ectory)?|folder|output|save|target|source)?_?(?:path|paths|file_?name)|file|files|directory|dir|folder|root|cwd|.*_?(?:path|directory))$/i,
    kinds: ['path'],
  },
]

/** The kinds of pieces that a parameter takes by its name or its format; none for any other text. */
export function kindsOf(parameter: Parameter): readonly SlotKind[] {
  return rowOf(parameter)?.kinds ?? []
}

/** Pieces of which every parameter of a pair takes a part. */
const sharedKinds = new Set<SlotKind>(['repository', 'size'])

/** The parameter wants a URL, a path, a repository…, and the request has one. */
export const typedRule: MappingRule = { name: 'by its form', find: findTyped }

function findTyped(parameter: Parameter, reading: RequestReading): Finding | undefined {
  const row = rowOf(parameter)
  if (row === undefined) return undefined
  const slots = row.kinds.some((kind) => sharedKinds.has(kind))
    ? reading.slots.filter(({ kind }) => row.kinds.includes(kind))
    : freeSlots(reading, ...row.kinds)
  const quoted = row.kinds[0] === 'path' ? freeSlots(reading, 'quoted').filter(isPathLike) : []
  return parameter.kind === 'array'
    ? listFinding([...slots, ...quoted], parameter)
    : firstFinding([...slots, ...quoted], row, parameter)
}

function rowOf(parameter: Parameter): TypedParameter | undefined {
  return typedParameters.find(({ name, format }) => isMeant(parameter, name, format))
}

function isMeant({ name, format: own }: Parameter, wanted: RegExp, format?: RegExp): boolean {
  return wanted.test(name) || (own !== undefined && format?.test(own) === true)
}

function firstFinding(
  slots: readonly Slot[],
  { take }: TypedParameter,
  parameter: Parameter,
): Finding | undefined {
  for (const slot of slots) {
    const text = take === undefined ? slot.value : take(slot)
    const value = text === undefined ? undefined : coerceText(text, parameter)
    if (value !== undefined) return { value, text: slot.value, slots: [slot] }
  }
  return undefined
}

function listFinding(slots: readonly Slot[], { items }: Parameter): Finding | undefined {
  if (items === undefined || slots.length === 0) return undefined
  const values = slots.map((slot) => coerceText(slot.value, items))
  const whole = values.filter((value): value is JsonValue => value !== undefined)
  if (whole.length !== slots.length) return undefined
  return { value: whole, text: slots.map(({ value }) => value).join(', '), slots }
}

function isPathLike({ value }: Slot): boolean {
  return /[/\\]|\.\w{1,5}$/.test(value) && !/\s{2}|\n/.test(value)
}

/** A host of this machine speaks plain HTTP; any other is taken for HTTPS. */
function withScheme(address: string): string {
  const isLocal = /^(?:localhost|127\.0\.0\.1)\b/.test(address)
  return `${isLocal ? 'http' : 'https'}://${address}`
}
