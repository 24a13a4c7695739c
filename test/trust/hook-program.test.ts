import type { JsonValue } from '../../src/core/json.ts'
import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ActingPart } from '../../src/trust/model.ts'
import { collectSkillParts } from '../../src/trust/acting-parts.ts'
import { hookProgram } from '../../src/trust/hook-program.ts'
import { skillIn, temporaryDirectory, writeFiles } from './_project.ts'

describe('the program of a hook', () => {
  it.each([
    ['./scripts/check.sh', 'scripts/check.sh', ''],
    ['  scripts/check.sh --all', 'scripts/check.sh', ' --all'],
    ['./check@2.sh', 'check@2.sh', ''],
    ['./prüfen.sh;true', 'prüfen.sh', ';true'],
    ['../check.sh', '../check.sh', ''],
    ['./a.sh&', 'a.sh', '&'],
    ['./a.sh\necho', 'a.sh', '\necho'],
    ['$CLAUDE_SKILL_DIR/check.md', 'check.md', ''],
    ['${SKILLRAIL_SKILL_DIR}/a/check.md >log', 'a/check.md', ' >log'],
    ['"$CLAUDE_SKILL_DIR"/check.md | cat', 'check.md', ' | cat'],
    ['"${CLAUDE_SKILL_DIR}/my check.md" x', 'my check.md', ' x'],
    ['$SKILLRAIL_SKILL_DIR//check.md', 'check.md', ''],
  ])('is found as a file of the skill in %j', (command, path, rest) => {
    const program = hookProgram(command)
    expect([join(program?.path ?? ''), program?.rest]).toEqual([path, rest])
  })

  it.each([
    'npm test',
    'check.sh',
    '/usr/bin/check',
    '~/bin/check',
    'C:/check.exe',
    'bash ./scripts/check.sh',
    'A=./scripts/check.sh',
    './scripts/$NAME',
    './scripts/check"x"',
    './scripts/*',
    '"./scripts/check.sh"',
    '$OTHER/check.sh',
    '$CLAUDE_SKILL_DIRECTORY/check.sh',
    '${CLAUDE_SKILL_DIR/check.sh',
    '"$CLAUDE_SKILL_DIR/check.sh',
    '"$CLAUDE_SKILL_DIR/$NAME"',
    '$CLAUDE_SKILL_DIR',
    '',
  ])('is not found in %j', (command) => {
    expect(hookProgram(command)).toBeUndefined()
  })

  it('splits the command into its path and the rest, which together are the whole', () => {
    fc.assert(
      fc.property(fc.string(), (command) => {
        const program = hookProgram(command)
        if (program === undefined) return
        expect(command.endsWith(program.rest)).toBe(true)
        expect(/^(?:$|[\s;&|<>)])/.test(program.rest)).toBe(true)
      }),
    )
  })
})

describe('a file that a hook runs', () => {
  const hooksOf = (command: string): JsonValue => ({
    PreToolUse: [{ matcher: 'Write', hooks: [{ type: 'command', command }] }],
  })

  function partsWith(hooks: JsonValue): ActingPart[] {
    const directory = temporaryDirectory()
    writeFiles(directory, {
      'guard.md': 'one',
      'other.md': 'one',
      'a/.guard.sh.swp': 'one',
      'folder/below/step.md': 'one',
    })
    chmodSync(join(directory, 'guard.md'), 0o755)
    symlinkSync('a/.guard.sh.swp', join(directory, 'link'))
    return collectSkillParts(directory, skillIn(directory, { run: 'other.md', hooks }))
  }

  const guardIn = (hooks: JsonValue): ActingPart | undefined =>
    partsWith(hooks).find(({ path }) => path === 'guard.md')

  it.each([
    './guard.md',
    'a/../guard.md --all',
    '$CLAUDE_SKILL_DIR/guard.md',
    '"$SKILLRAIL_SKILL_DIR/guard.md"',
  ])('acts, whatever it contains, if the command is %j', (command) => {
    expect(guardIn(hooksOf(command))).toMatchObject({ kind: 'script', executable: true })
  })

  it.each([
    'sh "$CLAUDE_SKILL_DIR"/guard.md',
    "sh '.claude/skills/a/'guard.md --all",
    'cd "$CLAUDE_SKILL_DIR" && . ./guard.md',
    'awk -fguard.md',
    'sh gu"ar"d\\.md',
    'sh GUARD.MD',
  ])('acts if the shell line %j contains its name', (command) => {
    expect(guardIn(hooksOf(command))).toMatchObject({ kind: 'script' })
  })

  it('acts below a folder whose name the shell line contains', () => {
    const parts = partsWith(hooksOf('run-parts "$CLAUDE_SKILL_DIR/folder"'))
    expect(parts.map(({ path }) => path)).toContain('folder/below/step.md')
  })

  it('acts in every form of the field `hooks`, and for no other command', () => {
    const several = { Stop: [{ hooks: [{ command: 'npm test' }, { command: './guard.md' }] }] }
    expect(guardIn({ Stop: { hooks: { command: './guard.md' } } })).toBeDefined()
    expect(guardIn(several)).toBeDefined()
    expect(guardIn(hooksOf('npm test'))).toBeUndefined()
  })

  it('is refused if the shell line names a file that can change unseen', () => {
    expect(partsWith(hooksOf('sh "$CLAUDE_SKILL_DIR"/a/.guard.sh.swp'))).toContainEqual(
      expect.objectContaining({ path: 'a/.guard.sh.swp', digest: 'unreadable' }),
    )
  })

  it.each(['a/.guard.sh.swp', 'link'])(
    'is refused as %s, because such a file can change unseen',
    (path) => {
      expect(partsWith(hooksOf(`./${path}`))).toContainEqual(
        expect.objectContaining({
          path,
          digest: 'unreadable',
          problem: 'is run by the skill, but is in a place that cannot be verified',
        }),
      )
    },
  )
})
