import { type Context, defineCommand, option } from '../../core/command.ts'
import { contradiction, exitCode, SkillrailError } from '../../core/errors.ts'
import { safeLine, safeText } from '../../core/text.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import { adapters, type Platform, platforms } from '../adapters.ts'
import { type FileChange, installHook, uninstallHook } from '../install.ts'
import { clientNamed, namedClients } from './clients.ts'

interface ChangesResult {
  changes: readonly (Omit<FileChange, 'before'> & {
    changed: boolean
    /** What is, or would be, done to the file; `none` where it is as it should be. */
    action: 'made' | 'changed' | 'removed' | 'none'
    diff: string
  })[]
  errors: readonly { platform: Platform; code: string; message: string }[]
  dryRun: boolean
}

export const install = defineCommand<ChangesResult>()({
  arguments: {
    '[client...]':
      'claude, codex, copilot, cursor, gemini, opencode, pi, qwen; default: those found here',
  },
  options: {
    user: option.flag('--user', 'in your own configuration, for every project (default)'),
    project: option.flag('--project', 'in the configuration of this project'),
    dryRun: option.flag('--dry-run', 'show what would be written, and write nothing'),
  },
  details:
    'Everything else in a file stays as it is, comments too, and skillrail hooks uninstall puts\nback what was there.',
  examples: ['hooks install claude'],
  async run(context, values) {
    const clients = namedClients(context.runtime, values.arguments)
    const result = await changeEach(context, clients, values, installHook)
    for (const { platform, scope } of result.changes) {
      const { title, steps, remark } = adapters[platform]
      for (const text of [steps[scope], remark]) {
        if (text !== undefined) context.note(`${title}: ${text}`)
      }
    }
    return result
  },
  exitCode: codeOf,
  render: (result) => changesText(result, (path) => `${path} is as it should be`),
})

export const uninstall = defineCommand<ChangesResult>()({
  arguments: { '[client...]': 'clients to remove the hook from; default: all' },
  options: {
    user: option.flag('--user', 'from your own configuration (default)'),
    project: option.flag('--project', 'from the configuration of this project'),
    dryRun: option.flag('--dry-run', 'show what would be changed, and change nothing'),
  },
  details:
    'A file that nobody else has changed is put back byte for byte; from any other only our\nentries are taken.',
  examples: ['hooks uninstall claude'],
  async run(context, values) {
    const named = values.arguments.map(clientNamed)
    return await changeEach(context, named.length === 0 ? platforms : named, values, uninstallHook)
  },
  exitCode: codeOf,
  render: (result) => changesText(result, (path) => `no hook was in ${path}`),
})

async function changeEach(
  { runtime, note }: Context,
  clients: readonly Platform[],
  { user, project, dryRun }: { user: boolean; project: boolean; dryRun: boolean },
  change: typeof installHook,
): Promise<ChangesResult> {
  if (user && project) {
    throw contradiction('--user', '--project', 'Give one of them, or call the command twice.')
  }
  const scope = project ? 'project' : 'user'
  const changes: Change[] = []
  const errors: ChangesResult['errors'][number][] = []
  for (const platform of clients) {
    try {
      changes.push(described(await change(runtime, platform, { scope, dryRun })))
    } catch (error) {
      if (!(error instanceof SkillrailError)) throw error
      errors.push({ platform, code: error.code, message: error.message })
      note(`${adapters[platform].title}: ${error.message}`)
      if (error.hint !== undefined) note(`  ${error.hint}`)
    }
  }
  return { changes, errors, dryRun }
}

type Change = ChangesResult['changes'][number]

function described({ before, after, ...facts }: FileChange): Change {
  const changed = before !== after
  const action = after === undefined ? 'removed' : before === undefined ? 'made' : 'changed'
  const diff = unifiedDiff(facts.path, before ?? '', after ?? '')
  return { ...facts, changed, after, action: changed ? action : 'none', diff }
}

function changesText({ changes, dryRun }: ChangesResult, unchanged: (path: string) => string) {
  const texts = changes.map(({ platform, path, action, diff, backup }) => {
    const { title } = adapters[platform]
    if (action === 'none') return `${title}: ${safeLine(unchanged(path))}\n`
    const head = `${title}: ${dryRun ? 'would be ' : ''}${action}: ${safeLine(path)}\n`
    const kept = backup === undefined ? '' : `What was there before is in ${safeLine(backup)}\n`
    return `${head}${safeText(diff)}\n${kept}`
  })
  return texts.join('')
}

function codeOf({ errors }: ChangesResult): 0 | 1 {
  return errors.length > 0 ? exitCode.badAnswer : exitCode.done
}
