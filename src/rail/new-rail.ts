import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { isObject, parseJson } from '#core/json'
import { findWorkspace, readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { Platform } from '#hooks/adapters'
import { railFacts } from '#hooks/rail-facts'
import { installedPlatforms, type PlatformStatus, platformStatuses } from '#hooks/status'
import { locationTable } from '#library/locations'
import { defaultChainPolicy } from '#skill/declarations'
import { serializeSkill, type SkillSource } from '#skill/serialize'

export interface NewRail {
  /** The command that must succeed before anything is published. */
  check: string
  /** Paths are relative to the working directory; the chain is the last one. */
  files: readonly NewFile[]
  /** How a user starts the chain in each client that was found and reads the folder. */
  calls: readonly { client: string; call: string }[]
  /** Clients that were found and do not read the folder, and how they do. */
  others: readonly { client: string; fix: string }[]
  isRepository: boolean
  /** Command lines for the next steps, in order. */
  next: readonly string[]
}

export interface NewFile {
  /** The name of the skill. */
  name: string
  path: string
  text: string
}

interface NewRailOptions {
  name: string
  check: string
  description?: string | undefined
  /** Default: the folder that most of the clients found here read. */
  folder?: string | undefined
}

/** Returns the skills of a first rail for this project, and what a user does with them next. Writes nothing. */
export function planNewRail(runtime: Runtime, options: NewRailOptions): NewRail {
  const { name, check } = options
  const workspace = findWorkspace(runtime.cwd, runtime)
  const clients = platformStatuses(runtime, installedPlatforms(runtime)).filter(
    ({ platform }) => railFacts(platform).start !== undefined,
  )
  const folder = resolve(
    runtime.cwd,
    options.folder ?? join(workspace, folderFor(clients, workspace)),
  )
  const reads = ({ platform }: PlatformStatus): boolean =>
    locationTable.some(
      ({ project, clients: readers }) =>
        project !== undefined && join(workspace, project) === folder && readers.includes(platform),
    )
  const readers = clients.filter(reads)
  const others = clients.filter((client) => !reads(client))
  return {
    check,
    files: railSkills(options).map((skill) => {
      return { ...skill, path: relative(runtime.cwd, join(folder, skill.name, 'SKILL.md')) }
    }),
    calls: readers.map(({ platform, title }) => {
      return { client: title, call: (railFacts(platform).start ?? '').replace('NAME', () => name) }
    }),
    others: others.map((one) => {
      const own = folderFor([one], workspace)
      const otherwise = `skillrail new --rail ${name} --dir ${relative(runtime.cwd, join(workspace, own))}`
      return { client: one.title, fix: linkTo(folder, own, runtime) ?? otherwise }
    }),
    isRepository: existsSync(join(workspace, '.git')),
    next: nextCommands(name, readers),
  }
}

/**
 * Returns the project's folder of skills that most clients read: those whose hook is ready count first, and a
 * folder that exists decides between equals.
 */
function folderFor(clients: readonly PlatformStatus[], workspace: string): string {
  const rows = locationTable.flatMap(({ project, clients: readers }) => {
    if (project === undefined) return []
    const found = clients.filter(({ platform }) => readers.includes(platform))
    const ready = found.filter(({ rail }) => rail.state === 'ready')
    const isThere = existsSync(join(workspace, project))
    return [{ project, readers, rank: [ready.length, found.length, isThere ? 1 : 0] }]
  })
  const [best] = rows
    .filter(({ readers }) => readers.length > 0)
    .toSorted((a, b) => {
      const differences = a.rank.map((value, index) => (b.rank[index] ?? 0) - value)
      return differences.find((difference) => difference !== 0) ?? 0
    })
  return best?.project ?? '.agents/skills'
}

/**
 * Returns a command after which a client that reads the project's folder `own` reads `folder` too; undefined if
 * `own` exists.
 */
function linkTo(folder: string, own: string, runtime: Runtime): string | undefined {
  const place = join(findWorkspace(runtime.cwd, runtime), own)
  if (existsSync(place)) return undefined
  const parent = relative(runtime.cwd, dirname(place)) || '.'
  const link = `ln -s ${relative(dirname(place), folder)} ${relative(runtime.cwd, place)}`
  return parent === '.' ? link : `mkdir -p ${parent} && ${link}`
}

/** Returns a command after which a client reads a folder of skills of this project, if one command is enough. */
export function wayToRead(
  folder: string,
  platform: Platform,
  runtime: Runtime,
): string | undefined {
  const workspace = findWorkspace(runtime.cwd, runtime)
  const isHere = locationTable.some(
    ({ project }) => project !== undefined && join(workspace, project) === folder,
  )
  if (!isHere) return undefined
  return linkTo(folder, folderFor(platformStatuses(runtime, [platform]), workspace), runtime)
}

/** Commands that work here one after the other. */
function nextCommands(name: string, readers: readonly PlatformStatus[]): string[] {
  const [first] = readers
  if (first === undefined)
    return ['skillrail validate', 'skillrail trust', 'skillrail hooks status']
  const isReady = readers.some(({ rail }) => rail.state === 'ready')
  const hook = isReady ? [] : [`skillrail hooks install ${first.platform}`]
  return [...hook, 'skillrail trust', `skillrail chain plan ${name}`]
}

/** Everything is committed. It holds or fails in any Git repository, and prints what differs. */
export const committedCheck = 'git diff --stat --exit-code HEAD'

/** Nothing differs from what was pushed. */
const pushedCheck = 'git diff --stat --exit-code @{upstream}'

/**
 * Returns the skills of a first rail: two steps and their chain, which comes last. The first step has the
 * check; the second waits for an approval, and only there may the agent push.
 */
function railSkills({ name, check, description }: NewRailOptions): Omit<NewFile, 'path'>[] {
  const [prepare, publish] = [`${name}-prepare`, `${name}-publish`]
  const line = 0
  const chain = {
    steps: [
      { name: prepare, check, line },
      { name: publish, gate: true, guard: 'Bash(git push:*)', check: pushedCheck, line },
    ],
    policy: defaultChainPolicy,
    gates: [],
    line,
  } as const
  const skill = (fields: SkillSource['fields'] & { name: string }, lines: readonly string[]) => {
    return { name: fields.name, text: serializeSkill({ fields, body: lines.join('\n') }) }
  }
  const argumentHint = 'VERSION'
  return [
    skill(
      {
        name: prepare,
        description: `Prepares a version with its number, its changelog and a commit. Use as the first step of ${name}.`,
        argumentHint,
      },
      [
        '# Prepare a version',
        '',
        '1. Set the version of this project to $ARGUMENTS, wherever the project keeps it.',
        '2. If there is a changelog, add a section for $ARGUMENTS that says in plain words what changed.',
        '3. Commit these files.',
      ],
    ),
    skill(
      {
        name: publish,
        description: `Publishes the version that was prepared. Use as the last step of ${name}.`,
      },
      ['# Publish a version', '', 'Run `git push`, then say which version is published.'],
    ),
    skill(
      {
        name,
        description:
          description ??
          'Releases a version of this project. Use when asked to release or to publish a version.',
        argumentHint,
        chain,
      },
      [
        '# Release a version',
        '',
        `1. \`${prepare}\`: the agent prepares the version. The step counts only if the check succeeds.`,
        `2. \`${publish}\`: after your approval, the agent pushes it. Until then \`git push\` is denied.`,
      ],
    ),
  ]
}

/** What `npm init` writes where a project has no tests. */
const noTest = 'echo "Error: no test specified" && exit 1'

/**
 * Returns the command with which a project says itself how it is tested: the task `test` in its
 * `package.json` or its makefile. Other projects declare no such task, so their check is asked for.
 */
export function declaredCheck(workspace: string): string | undefined {
  const script = testScript(textOf(join(workspace, 'package.json')))
  if (script !== undefined && script !== noTest) return 'npm test'
  const makefiles = ['GNUmakefile', 'makefile', 'Makefile']
  const makefile = makefiles.map((name) => textOf(join(workspace, name))).find(Boolean) ?? ''
  return /^test[ \t]*:(?!=)/m.test(makefile) ? 'make test' : undefined
}

function testScript(manifest: string): string | undefined {
  const document = parseJson(manifest)
  const scripts = isObject(document) ? document['scripts'] : undefined
  const script = isObject(scripts) ? scripts['test'] : undefined
  return typeof script === 'string' && script.trim() !== '' ? script : undefined
}

function textOf(path: string): string {
  const reading = readRegularFile(path, { maxBytes: 1024 * 1024 })
  return reading.ok ? reading.text : ''
}
