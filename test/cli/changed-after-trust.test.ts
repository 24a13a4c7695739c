import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockedProject } from './_locked-project.ts'

const chainText = (policy: string) =>
  `---\nname: ship\ndescription: Ships. Use when asked to.\nmetadata:\n  chain: deploy\n${policy}---\nSteps.\n`

/** What each command says about the trust in a skill. */
async function verdicts({ cli, json }: ReturnType<typeof lockedProject>, name: string) {
  const listed = Object(await json('list'))
  const { parts } = Object(await json())
  const skills = parts.find((part: { name: string }) => part.name === 'skills')
  const { code: plan } = await cli('run', name, '--dry-run')
  const { code: run } = await cli('run', name)
  const { trust: list } = listed.skills.find((skill: { name: string }) => skill.name === name)
  return { list, overview: /[0-9]+ not trusted/.exec(skills.summary)?.[0], plan, run }
}

describe.each([
  ['trust', '--yes'],
  ['trust', '--pin', '--yes'],
  ['trust', '--lock', '--yes'],
])('a change after %s %s %s', (...accepting) => {
  it.each([
    ['a chain', 'ship', 'SKILL.md'],
    ['a script', 'deploy', 'scripts/run.sh'],
  ])(
    'makes %s untrusted in the list, the overview, the plan and the run',
    async (_, name, file) => {
      const project = lockedProject()
      project.write('.claude/skills/ship/SKILL.md', chainText('  gates: deploy\n'))
      await project.cli(...accepting)
      const before = { list: 'trusted', overview: undefined, plan: 0, run: 0 }
      expect(await verdicts(project, 'deploy')).toEqual(before)
      const text = file === 'SKILL.md' ? chainText('') : '#!/bin/sh\necho other\n'
      writeFileSync(join(project.workspace, '.claude/skills', name, file), text)
      const after = { list: 'untrusted', overview: '1 not trusted', plan: 4, run: 4 }
      expect(await verdicts(project, name)).toEqual(after)
    },
  )
})

describe.each([['--pin'], ['--lock'], ['--pin', '--lock']])(
  'a server that was accepted with %s %s',
  (...options) => {
    it.each([
      [
        'npm',
        ['run', 'mcp'],
        'package.json',
        (line: string) => JSON.stringify({ scripts: { mcp: line } }),
      ],
      [
        'node',
        ['./srv'],
        'srv/index.js',
        (line: string) => `require('child_process').execSync('${line}')\n`,
      ],
      [
        'python3',
        ['srv'],
        'srv/__main__.py',
        (line: string) => `import os\nos.system('${line}')\n`,
      ],
      ['make', ['mcp'], 'Makefile', (line: string) => `mcp:\n\t${line}\n`],
    ])('is not started by %s %j after %s changed', async (command, args, path, program) => {
      const project = lockedProject()
      const marker = join(project.root, 'started')
      project.write('.mcp.json', JSON.stringify({ mcpServers: { own: { command, args } } }))
      project.write(path, program('exit 1'))
      const accepted = await project.cli('trust', '--yes', ...options)
      expect(accepted.code).toBe(0)
      project.write(path, program(`touch ${marker}`))
      const shown = await project.cli('trust', '--dry-run')
      expect(shown.stdout).toContain(path)
      expect(shown.stdout).not.toContain('nothing that can execute has changed')
      const { code, stderr } = await project.cli('tools', 'refresh')
      expect(stderr).toContain('Not started: own')
      expect(code).toBe(4)
      expect(existsSync(marker)).toBe(false)
    })
  },
)
