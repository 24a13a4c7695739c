import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandFits, commandMayFit } from '../../src/agent/approval/command-patterns.ts'
import { commandSpellings, formerNames } from '../../src/core/former-names.ts'
import { readShellCommands } from '../../src/core/shell-commands.ts'
import { type ClientCall, guardAgainst, isAllowed } from '../../src/rail/calls.ts'
import { matchToolCall } from '../../src/trigger/tool-call.ts'

// A guard, a list of tools and a trigger mean a command, however it is written.

const renamed = Object.entries(formerNames).filter(([, present]) => present !== '')
const starts = ['skillrail', 'npx skillrail', './node_modules/.bin/skillrail']

/** What follows a name: a word of a subcommand, as every group has it, or arguments. */
const rests = ['', ' list', ' show x', ' x --json', ' --json x y']

const spelling = fc.record({
  pair: fc.constantFrom(...renamed),
  isFormer: fc.boolean(),
  wasFormer: fc.boolean(),
  rest: fc.constantFrom(...rests),
  start: fc.constantFrom(...starts),
})

function shellCall(command: string): ClientCall {
  const call = { kind: 'shell', paths: [], command } as const
  return { client: 'claude', tool: 'Bash', call, cwd: '/p', workspace: '/p', home: '/h' }
}

/** Whether a trigger on the pattern fires on a shell line. */
async function fires(command: string, pattern: string): Promise<boolean> {
  const when = { kind: 'command', pattern, require: true } as const
  const triggers = [{ match: pattern, inject: 'a.md', line: 1, when }]
  const call = { kind: 'shell', paths: [], command } as const
  const matches = await matchToolCall(
    call,
    [{ name: 's', directory: '/s', path: '/s/SKILL.md', triggers }],
    { cwd: '/p', root: '/p' },
  )
  return matches.length > 0
}

describe('each spelling of a command', () => {
  it('is denied by a guard of the other', async () => {
    await fc.assert(
      fc.asyncProperty(spelling, async ({ pair, isFormer, wasFormer, rest, start }) => {
        const [typed, guarded] = [isFormer, wasFormer].map((former) => pair[former ? 0 : 1])
        const line = `${start} ${typed}${rest}`
        for (const calls of [`Bash(skillrail ${guarded}:*)`, `Bash(skillrail ${guarded})`]) {
          expect({
            line,
            calls,
            against: await guardAgainst(shellCall(line), [{ calls }]),
          }).toEqual({
            line,
            calls,
            against: { guard: { calls }, isTooLong: false },
          })
        }
        const pattern = `${start} ${guarded}:*`
        expect({ line, pattern, denial: commandMayFit(line, [pattern], 'linux') }).toEqual({
          line,
          pattern,
          denial: 'yes',
        })
      }),
    )
  })

  it('is allowed by a list with the other', async () => {
    await fc.assert(
      fc.asyncProperty(spelling, async ({ pair, isFormer, wasFormer, rest, start }) => {
        const [typed, listed] = [isFormer, wasFormer].map((former) => pair[former ? 0 : 1])
        const line = `${start} ${typed}${rest}`
        const open = `${start} ${listed}:*`
        const exact = `${start} ${listed}${rest}`
        for (const pattern of [open, exact]) {
          const allowed = await isAllowed(shellCall(line), `Bash(${pattern})`)
          const fits = commandFits(line, [pattern], 'linux')
          expect({ line, pattern, allowed, fits }).toEqual({
            line,
            pattern,
            allowed: true,
            fits: true,
          })
        }
      }),
    )
  })

  it('fires a trigger on the other', async () => {
    for (const [former, present] of renamed) {
      for (const [typed, named] of [
        [former, present],
        [present, former],
      ]) {
        const line = `npx skillrail ${typed} x --json`
        expect({ line, fired: await fires(line, `skillrail ${named}`) }).toEqual({
          line,
          fired: true,
        })
      }
    }
  })
})

it('is another command with another name', async () => {
  for (const [former, present] of renamed) {
    for (const name of [former, present]) {
      const calls = `Bash(skillrail ${name}:*)`
      for (const other of ['validate x', 'runs approve x', `trust ${former}`, 'tools call x']) {
        const line = `skillrail ${other}`
        expect({ calls, line, against: await guardAgainst(shellCall(line), [{ calls }]) }).toEqual({
          calls,
          line,
          against: undefined,
        })
        expect(await isAllowed(shellCall(line), calls)).toBe(false)
        expect(commandFits(line, [`skillrail ${name}:*`], 'linux')).toBe(false)
      }
    }
  }
})

it('belongs to the group in which it is now', async () => {
  const calls = 'Bash(skillrail tools:*)'
  const line = 'skillrail workflow remove x'
  expect(await guardAgainst(shellCall(line), [{ calls }])).toBeDefined()
  expect(await isAllowed(shellCall(line), calls)).toBe(true)
  // A list with one command of the group allows no other.
  expect(await isAllowed(shellCall(line), 'Bash(skillrail tools)')).toBe(false)
  expect(await isAllowed(shellCall(line), 'Bash(skillrail tools list:*)')).toBe(false)
})

it('has its option anywhere, and is guarded without it, too', async () => {
  const covers = async (calls: string, line: string): Promise<boolean> =>
    (await guardAgainst(shellCall(line), [{ calls }])) !== undefined
  expect(await covers('Bash(skillrail activate:*)', 'skillrail show deploy --activate')).toBe(true)
  expect(
    await covers('Bash(skillrail show deploy --activate:*)', 'skillrail activate deploy'),
  ).toBe(true)
  expect(await covers('Bash(skillrail show deploy:*)', 'skillrail activate deploy')).toBe(true)
  expect(await covers('Bash(skillrail activate:*)', 'skillrail show deploy')).toBe(false)
  expect(await covers('Bash(git push --force:*)', 'git push origin main --force')).toBe(true)
  expect(await covers('Bash(git push --force:*)', 'git push origin main')).toBe(false)
})

it('changes no command of another program', () => {
  const { commands } = readShellCommands('git match x; echo skillrail; skillrail')
  for (const { words } of commands) {
    const texts = words.map(({ text }) => text)
    expect(commandSpellings(texts)).toEqual([texts])
  }
})
