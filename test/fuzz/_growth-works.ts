import { InstalledNames } from '../../src/audit/check-names.ts'
import { adviseOnSkill } from '../../src/skill/advice.ts'
import { FieldReader } from '../../src/skill/field-values.ts'
import { blankObjects } from '../../src/tools/call/directive-text.ts'
import { readDocument } from '../../src/tools/config/document.ts'
import type { ServerDefinition } from '../../src/tools/config/model.ts'
import { selectServers } from '../../src/tools/config/read-configuration.ts'
import { checkWorkflows } from '../../src/tools/workflow/check-workflows.ts'
import { readWorkflows } from '../../src/tools/workflow/read-workflows.ts'
import { guardAgainst } from '../../src/rail/calls.ts'
import { readForGuards } from '../../src/rail/shell-calls.ts'
import { findReferences } from '../../src/skill/references.ts'
import { parseSkill } from '../../src/skill/parse.ts'
import { fixSkill } from '../../src/skill/fix.ts'
import type { WorkOfSize } from '../work-count.ts'

// Work that once grew like the square of its input; growth.test.ts measures how it grows.

export const placesInToml: WorkOfSize = (size) => {
  const names = Array.from({ length: size }, (_, at) => `a${at}`)
  const text = names.map((name) => `[servers.${name}]\ncommand = 1`).join('\n')
  return () => {
    const document = readDocument(text, 'toml')
    for (const name of names) {
      if (document.ok) document.lineOf(['servers', name, 'url'])
    }
  }
}

export const choiceOfServers: WorkOfSize = (size) => {
  const servers = Array.from({ length: size }, (_, at) => serverOf(`s${at}`))
  return () => selectServers(servers)
}

export const cyclesOfWorkflows: WorkOfSize = (size) => {
  const workflows = Array.from({ length: size }, (_, at) => [
    `w${at}`,
    {
      description: 'd',
      triggers: { tools: [`t__${at}`] },
      prerequisites: [{ step: 1, tool: `t__${at + 1}`, description: 'd' }],
    },
  ])
  const text = JSON.stringify(Object.fromEntries(workflows))
  const read = readWorkflows([{ path: '/w.json', text }])
  return () => checkWorkflows(read.workflows)
}

export const objectsInText: WorkOfSize = (size) => {
  const objects = Array.from({ length: size }, (_, at) => ({
    start: 3 * at,
    end: 3 * at + 2,
    value: {},
  }))
  return () => blankObjects('{} '.repeat(size), objects)
}

export const filesThatBodyNames: WorkOfSize = (size) => {
  const names = Array.from({ length: size }, (_, at) => `references/a${at}.md`)
  const files = names.map((path) => ({ path, size: 1, executable: false }))
  const body = names.map((name) => `[x](${name})`).join('\n')
  return () =>
    adviseOnSkill(new FieldReader('SKILL.md', []), {
      description: { text: undefined, at: undefined },
      body,
      bodyLine: 1,
      files,
    })
}

export const similarNames: WorkOfSize = (size) => {
  const skills = Array.from({ length: size }, (_, index) => {
    const name = `skill-number-${index}`
    return { name, directory: `/skills/${name}` }
  })
  return () => {
    const names = new InstalledNames(skills)
    for (const { name, directory } of skills) names.like(name, directory)
  }
}

export const spansOfCode: WorkOfSize = (size) => {
  const line = Array.from({ length: 90 }, (_, at) => '`'.repeat((at % 60) + 1)).join(' ')
  return () => findReferences(`${line} [a](references/a.md)\n`.repeat(size))
}

export const stepsOfChain: WorkOfSize = (size) => {
  const text = `---\nname: a\ndescription: Does a. Use when testing.\nmetadata:\n  chain: |\n    b ${'x="y" & '.repeat(size)}\n---\n`
  return () => parseSkill(Buffer.from(text), { path: 'p' })
}

export const blanksInBlocks: WorkOfSize = (size) => {
  const text = `---\nname: a\ndescription: |\n${'  a \n'.repeat(size)}---\n`
  return () => fixSkill(text)
}

export const blanksAtEnds: WorkOfSize = (size) => {
  const text = `---\nname: a \n${'# b \n'.repeat(size)}description: c\n---\n`
  return () => fixSkill(text)
}

export const guardedLines: WorkOfSize = (size) => {
  const parts = [
    'x=(git a) ',
    'git $x ',
    'git -c a="git x" ',
    '{git,x}{a,b} ',
    'for x in a b; do git; done;',
    '{ { sh; } <<E\ngit a\nE\n} <<F\ngit b\nF\n',
  ]
  const lines = parts.map((part) => part.repeat(size))
  lines.push(`{ ${'sh; '.repeat(size)}} <<E\n${'git a\n'.repeat(size)}E\n`)
  return () =>
    lines.filter((line) => readForGuards(line, ['git push origin:*']).mayRun('git push origin:*'))
}

export const guardsOfLine: WorkOfSize = (size) => {
  const guards = Array.from({ length: size }, (_, at) => ({ calls: `Bash(tool${at} push:*)` }))
  const command = 'x "$(git a; git b $y)" '.repeat(400)
  const call = { kind: 'shell', paths: [], command } as const
  const about = { client: 'claude', tool: 'Bash', cwd: '/w', workspace: '/w', home: '/h' } as const
  return async () => await guardAgainst({ ...about, call }, guards)
}

function serverOf(name: string): ServerDefinition {
  return {
    name,
    transport: { kind: 'stdio', command: 'x', args: [], env: {} },
    source: { client: 'claude-code', path: '/p/.mcp.json', scope: 'project' },
    startupTimeoutMs: 1,
    callTimeoutMs: 1,
    disabled: false,
    trusted: true,
    digest: '',
  }
}
