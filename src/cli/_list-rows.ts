import type { Discovery, SkillInfo } from '../library/index.ts'
import { cell, count } from '../base/text.ts'
import type { Output } from './output.ts'

export interface ListRowsOptions {
  /** Also what is shadowed. */
  all: boolean
  /** Columns to fill. */
  width: number
  style: Output['style']
}

interface Row {
  name: string
  scope: string
  trust: string
  tokens: string
  note: string
}

/**
 * The table of `list`, with its head. What is left of the width goes to the description; a narrow
 * terminal loses the description first, then the scope.
 */
export function listRows(discovery: Discovery, options: ListRowsOptions): string[][] {
  const { width, style } = options
  const rows = rowsOf(discovery, options)
  const nameWidth = Math.min(
    longest(rows.map(({ name }) => name)),
    Math.max(12, Math.floor(width / 3)),
  )
  const fixed = nameWidth + 2 + 'project'.length + 2 + 'untrusted'.length + 2 + tokenWidth(rows) + 2
  const withScope = width >= fixed
  const noteWidth = width - fixed
  const head = row(
    { name: 'NAME', scope: 'SCOPE', trust: 'TRUST', tokens: 'TOKENS', note: 'DESCRIPTION' },
    (text) => style('dim', text),
  )
  return [head, ...rows.map((entry) => row(entry, (text) => text))]

  function row(entry: Row, paint: (text: string) => string): string[] {
    const cells = [paint(cell(entry.name, nameWidth))]
    if (withScope) cells.push(paint(entry.scope))
    cells.push(colouredTrust(entry.trust, style, paint))
    cells.push(paint(entry.tokens.padStart(tokenWidth(rows))))
    if (noteWidth >= 16) cells.push(paint(cell(entry.note, noteWidth)))
    return cells
  }
}

function rowsOf(discovery: Discovery, { all }: ListRowsOptions): Row[] {
  return [
    ...discovery.skills.map((info) => rowOf(info, shadowNote(info) + info.description)),
    ...discovery.conflicts.map((info) => ({
      ...rowOf(info, 'another skill here has this name'),
      trust: 'conflict',
    })),
    ...discovery.broken.map(({ name, scope, diagnostics }) => ({
      name,
      scope,
      trust: 'broken',
      tokens: '-',
      note: diagnostics.find(({ severity }) => severity === 'error')?.message ?? '',
    })),
    ...(all
      ? discovery.shadowed.map((info) => ({
          ...rowOf(info, `${info.trustLevel}, in ${info.source}`),
          trust: 'shadowed',
        }))
      : []),
  ]
}

function rowOf(info: SkillInfo, note: string): Row {
  const { name, scope, trustLevel, tokens } = info
  return { name, scope, trust: trustLevel, tokens: count(tokens.body), note }
}

function shadowNote({ shadows }: SkillInfo): string {
  return shadows.length === 0 ? '' : `[hides ${shadows.length}] `
}

function colouredTrust(
  trust: string,
  style: Output['style'],
  paint: (text: string) => string,
): string {
  if (trust === 'trusted') return style('green', trust)
  if (trust === 'untrusted') return style('yellow', trust)
  return trust === 'broken' || trust === 'conflict' ? style('red', trust) : paint(trust)
}

function tokenWidth(rows: readonly Row[]): number {
  return Math.max('TOKENS'.length, longest(rows.map(({ tokens }) => tokens)))
}

function longest(texts: readonly string[]): number {
  return texts.reduce((length, text) => Math.max(length, text.length), 4)
}
