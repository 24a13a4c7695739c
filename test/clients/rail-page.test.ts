import { expect, it } from 'vitest'
import { type Outcome, railPage } from './rail-page.ts'
import { clientPackages } from './cache.ts'

const page = (outcomes: readonly Outcome[], previous = '') =>
  railPage(new Map(), { outcomes, tries: [] }, previous)
const rows = (text: string) => text.split('\n').filter((line) => line.startsWith('| stops'))

it('keeps what other clients did, and replaces what the same client did before', () => {
  const first = page([
    ['claude', 'stops', 'it waits'],
    ['pi', 'stops', 'it waits'],
  ])
  expect(rows(first)).toEqual(['| stops | Claude Code, pi | it waits |'])
  const second = page([['codex', 'stops', 'it waits']], first)
  expect(rows(second)).toEqual(['| stops | Claude Code, Codex, pi | it waits |'])
  expect(rows(page([['pi', 'stops', 'it continues']], second))).toEqual([
    '| stops | Claude Code, Codex | it waits |',
    '| stops | pi | it continues |',
  ])
})

it('says `all` only if every client did the same', () => {
  const clients = ['claude', 'codex', 'copilot', 'gemini', 'opencode', 'pi', 'qwen'] as const
  expect(Object.keys(clientPackages)).toEqual(clients)
  const all = page(clients.map((client): Outcome => [client, 'stops', 'it waits']))
  expect(rows(all)).toEqual([`| stops | all ${clients.length} | it waits |`])
  const changed = page([['qwen', 'stops', 'it continues']], all)
  expect(rows(changed)[0]).not.toContain('Qwen Code')
  expect(rows(page([['qwen', 'stops', 'it waits']], changed))).toEqual(rows(all))
})
