import type { JsonObject } from '../model.ts'
import { type Parameter, parametersOf } from './parameter.ts'
import type { Slot, SlotKind } from './slots.ts'
import { kindsOf } from './typed-rule.ts'

/** The forms of pieces that have a place of their own, by the letter that stands for each. */
const pieceForms: Partial<Record<SlotKind, string>> = {
  number: 'n',
  url: 'u',
  email: 'e',
  path: 'p',
  repository: 'r',
  uid: 'i',
}

/** What else a parameter may be. */
const otherForms = {
  /** Words, which may hold any piece, and whatever has no type. */
  text: 't',
  /** A flag, or one of several words. */
  choice: 'c',
  /** An object, or a list of them: nothing that a sentence says. */
  structure: 'o',
} as const

/**
 * As much of an input schema as is needed to tell whether the pieces of a request fit it: a letter a
 * parameter, upper case for a list, with `|` between the required ones and the others.
 */
export function inputForms(schema: JsonObject): string {
  const parameters = parametersOf(schema)
  const formsOf = (required: boolean): string =>
    parameters.flatMap((one) => (one.required === required ? [formOf(one)] : [])).join('')
  return `${formsOf(true)}|${formsOf(false)}`
}

function formOf(parameter: Parameter): string {
  const { name, kind, choices, items } = parameter
  if (kind === 'array') {
    const form = items === undefined ? otherForms.text : formOf({ ...items, name })
    return form === otherForms.structure ? form : form.toUpperCase()
  }
  if (kind === 'object') return otherForms.structure
  if (kind === 'boolean' || choices.length > 0) return otherForms.choice
  if (kind === 'number' || kind === 'integer') return formOfPiece('number')
  const [typed] = kind === 'string' ? kindsOf(parameter) : []
  return typed === undefined ? otherForms.text : formOfPiece(typed)
}

function formOfPiece(kind: SlotKind): string {
  return pieceForms[kind] ?? otherForms.text
}

/** The readings of each typed piece of a request: `octo/hello` is a repository or a path. */
export type InputPieces = readonly (readonly string[])[]

export function inputPieces(slots: readonly Slot[]): InputPieces {
  const pieces = new Map<number, string[]>()
  for (const { kind, start } of slots) {
    const form = kind === 'size' ? formOfPiece('number') : pieceForms[kind]
    if (form === undefined) continue
    const known = pieces.get(start)
    if (known === undefined) pieces.set(start, [form])
    else known.push(form)
    // A width and a height.
    if (kind === 'size') pieces.set(start + 0.5, [form])
  }
  return [...pieces.values()]
}

export interface InputFit {
  /** How many required parameters the pieces fill by their form, and how many others. */
  filled: { required: number; others: number }
  /** How many required parameters stay open, by who could fill them. */
  open: {
    /** Only the request, by a piece of its own: an address, a repository. */
    said: number
    /** Other words of the request. */
    worded: number
    /** Another tool: a number, an element. */
    given: number
  }
  /** How many other parameters could have taken a piece and did not; a flag could not. */
  spare: number
  /** How many pieces no parameter takes. */
  homeless: number
  /** Whether it requires what no sentence says. */
  needsStructure: boolean
}

/** How the typed pieces of a request fit what a tool takes. Pure. */
export function fitInputs(forms: string, pieces: InputPieces): InputFit {
  const [required = '', optional = ''] = forms.split('|')
  let open = required
  let rest = optional
  let homeless = 0
  for (const own of pieces) {
    const readings = [...own, otherForms.text]
    const inOpen = placeIn(open, own)
    const inRest = inOpen === undefined ? placeIn(rest, own) : undefined
    const loose = inRest === undefined ? placeIn(open, readings) : undefined
    if (inOpen !== undefined) open = without(open, inOpen)
    else if (inRest !== undefined) rest = without(rest, inRest)
    else if (loose !== undefined) open = without(open, loose)
    else if (placeIn(forms, readings, isLasting) === undefined) homeless += 1
  }
  const count = (places: string, isMeant: (place: string) => boolean): number =>
    places.split('').filter(isMeant).length
  const isWorded = (place: string): boolean => place.toLowerCase() === otherForms.text
  const isGiven = (place: string): boolean => givenForms.has(place)
  const worded = count(open, isWorded)
  const given = count(open, isGiven)
  const loose = count(required, isWorded) - worded
  return {
    filled: {
      required: required.length - open.length - loose,
      others: optional.length - rest.length,
    },
    open: { said: open.length - worded - given, worded, given },
    spare: count(rest, (place) => place !== otherForms.choice),
    homeless,
    needsStructure: required.includes(otherForms.structure),
  }
}

const givenForms: ReadonlySet<string | undefined> = new Set([pieceForms.number, pieceForms.uid])

function placeIn(
  places: string,
  readings: readonly string[],
  isMeant: (place: string) => boolean = () => true,
): string | undefined {
  return places.split('').find((place) => isMeant(place) && readings.includes(place.toLowerCase()))
}

/** One repository is for all parameters that take a part of it; any other piece for one. */
function without(places: string, place: string): string {
  return place === pieceForms.repository ? places.replaceAll(place, '') : places.replace(place, '')
}

/** Text and a list take more than one piece, and one repository may be spoken of twice. */
function isLasting(place: string): boolean {
  const isList = place !== place.toLowerCase()
  return isList || place === pieceForms.repository || place === otherForms.text
}
