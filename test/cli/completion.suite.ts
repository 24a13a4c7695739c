import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bin } from '../command-line.ts'
import { programPath } from '../trigger/_shells.ts'

// Debian: apt-get install bash zsh fish. What is missing is skipped.
let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'skillrail-completion-'))
  const folder = join(root, 'project/.agents/skills/release-notes')
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(root, 'project/.git'))
  mkdirSync(join(root, 'bin'))
  writeFileSync(
    join(folder, 'SKILL.md'),
    '---\nname: release-notes\ndescription: "Notes: writes them."\n---\nDo.\n',
  )
  writeFileSync(
    join(root, 'bin/skillrail'),
    `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`,
  )
  chmodSync(join(root, 'bin/skillrail'), 0o755)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** What the shell printed, without colours and other control sequences. */
function run(shell: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(shell, args, {
    cwd: join(root, 'project'),
    encoding: 'utf8',
    timeout: 15_000,
    env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, HOME: root, TERM: 'dumb' },
  })
  return `${stdout}${stderr}`.replaceAll(/\u001b\[[?\d;]*[A-Za-z]/g, '')
}

/** The line with what the shell completes, or lists, after `typed`; a terminal is read until `expected` comes. */
const shells: Record<string, (typed: string, expected: string) => string> = {
  bash(typed) {
    const words = typed.split(' ')
    return run('bash', [
      '-c',
      `source <(skillrail completion bash 2>/dev/null)
complete -p skillrail
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_skillrail
printf '%s\\n' "\${COMPREPLY[@]}"`,
    ])
  },
  // Types into a terminal: completion of zsh works in its line editor alone.
  zsh(typed, expected) {
    return run('zsh', [
      '-fc',
      `zmodload zsh/zpty
zpty shell zsh -fi
ask() { zpty -w shell "$1"; sleep 0.3 }
ask 'PROMPT=; autoload -U compinit && compinit -u -D'
ask 'source <(skillrail completion zsh 2>/dev/null); print ready'
until zpty -r shell line && [[ $line == *ready* && $line != *print* ]]; do :; done
zpty -n -w shell $'${typed}\\t'
zpty -r shell line '*${expected}*'
print -r -- "$line"
zpty -d shell`,
    ])
  },
  fish: (typed) =>
    run('fish', ['-c', `skillrail completion fish 2>/dev/null | source; complete -C '${typed}'`]),
}

describe.each(Object.entries(shells))('completion in %s', (shell, complete) => {
  it.skipIf(programPath(shell) === undefined)(
    'completes commands, choices and skills',
    { timeout: 60_000 },
    () => {
      for (const [typed, expected] of [
        ['skillrail runs appr', 'approve'],
        ['skillrail validate --profile ref', 'reference'],
        ['skillrail run rel', 'release-notes'],
      ] as const)
        expect(complete(typed, expected)).toContain(expected)
    },
  )
})
