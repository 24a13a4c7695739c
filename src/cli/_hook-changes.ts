import {
  exitCode,
  type ExitCode,
  messageOf,
  safeLine,
  safeText,
  SkillrailError,
} from '../base/index.ts'
import { adapters, type FileChange, type HookScope, type Platform } from '../hooks/index.ts'
import { contradiction } from '../base/errors.ts'
import { unifiedDiff } from '../base/unified-diff.ts'
import type { CommandContext } from './command.ts'

export interface ScopeOptions {
  user?: boolean | undefined
  project?: boolean | undefined
  dryRun?: boolean | undefined
}

/**
 * What happened for each client; one that failed does not hold up the others.
 *
 * @param unchanged says of a path that nothing was to do.
 */
export async function changeEach(
  context: CommandContext,
  named: readonly Platform[],
  options: ScopeOptions,
  change: (platform: Platform, scope: HookScope) => Promise<FileChange>,
  unchanged: (path: string) => string,
): Promise<{ changes: FileChange[]; code: ExitCode }> {
  const scope = scopeOf(options)
  const changes: FileChange[] = []
  const errors: { platform: Platform; code: string; message: string }[] = []
  for (const platform of named) {
    try {
      const done = await change(platform, scope)
      changes.push(done)
      if (!context.options.json) printChange(context, done, options.dryRun === true, unchanged)
    } catch (error) {
      if (!(error instanceof SkillrailError)) throw error
      errors.push({ platform, code: error.code, message: messageOf(error) })
      context.output.note(`${adapters[platform].title}: ${error.message}`)
      if (error.hint !== undefined) context.output.note(`  ${error.hint}`)
    }
  }
  if (context.options.json) {
    context.output.json({
      changes: changes.map(({ before, after, ...rest }) => ({
        ...rest,
        changed: before !== after,
        after,
      })),
      errors,
    })
  }
  return { changes, code: errors.length > 0 ? exitCode.badAnswer : exitCode.done }
}

/** @throws {UsageError} when both are named: one file is changed at a time. */
function scopeOf({ user, project }: ScopeOptions): HookScope {
  if (user === true && project === true) {
    throw contradiction('--user', '--project', 'Give one of them, or call the command twice.')
  }
  return project === true ? 'project' : 'user'
}

function printChange(
  { output }: CommandContext,
  change: FileChange,
  dryRun: boolean,
  unchanged: (path: string) => string,
): void {
  const { platform, path, before, after, backup } = change
  const { title } = adapters[platform]
  if (before === after) {
    output.line(`${title}: ${safeLine(unchanged(path))}`)
    return
  }
  const verb = after === undefined ? 'removed' : before === undefined ? 'made' : 'changed'
  output.line(`${title}: ${dryRun ? 'would be ' : ''}${verb}: ${safeLine(path)}`)
  output.line(safeText(unifiedDiff(path, before ?? '', after ?? '')))
  if (backup !== undefined) output.line(`What was there before is in ${safeLine(backup)}`)
}
