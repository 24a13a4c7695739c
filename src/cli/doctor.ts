import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Check, type Context, defineCommand, option, type Screen } from '#core/command'
import { inspectConfiguration } from '#core/configuration'
import { errorsIn, exitCode, messageOf } from '#core/errors'
import { stateDirectory, userDirectories } from '#core/runtime'
import { amount, safeLine } from '#core/text'
import { checkIdleTriggers } from '#project/check-idle-triggers'
import { type EngineChoice, engineOptions, wantsServer } from '#project/engines'
import { checkSandbox } from '#exec/check'
import { checkHooks } from '#hooks/status'
import { checkLibrary } from '#library/check'
import { checkGuards } from '#project/guards-here'
import { checkSkillLock, checkTrust } from '#trust/check'
import { markOf } from './overview.ts'

interface DoctorResult {
  checks: readonly Check[]
}

export const command = defineCommand<DoctorResult>()({
  options: {
    ...engineOptions,
    probe: option.flag('--probe', 'call the hook of every client as the client would'),
  },
  helpsToRepair: true,
  details:
    'Exits with 1 if a problem prevents skillrail from working, or if nothing here enforces a guard that always applies.',
  examples: ['doctor'],
  async run(context, values) {
    const isServerWanted = wantsServer(values)
    return {
      checks: [
        ...checkMachine(context),
        await checkSandbox(context),
        ...checkLibrary(context),
        ...(await checkIdleTriggers(context)),
        ...checkTrust(context),
        ...checkGuards(context),
        ...checkSkillLock(context),
        ...(await checkHooks(context, values.probe)),
        ...(isServerWanted ? await checkServer(context, values) : []),
      ],
    }
  },
  exitCode: ({ checks }) =>
    checks.some(({ status }) => status === 'problem') ? exitCode.failed : exitCode.done,
  render({ checks }, screen) {
    const width = Math.max(...checks.map(({ name }) => name.length))
    return checks.map((check) => checkText(check, width, screen)).join('')
  },
})

async function checkServer(context: Context, choice: EngineChoice): Promise<Check[]> {
  const { checkRestate } = await import('#project/check-restate')
  return await checkRestate(context, choice)
}

function checkText({ name, status, found, advice }: Check, width: number, screen: Screen): string {
  const line = `${markOf(status, screen)} ${name.padEnd(width)}  ${safeLine(found)}\n`
  if (advice === undefined) return line
  return `${line}  ${' '.repeat(width)}  ${screen.style('dim', advice)}\n`
}

function checkMachine(context: Context): Check[] {
  const { runtime, globals } = context
  const { sources, diagnostics } = inspectConfiguration(runtime, { file: globals.config })
  const errors = errorsIn(diagnostics)
  return [
    { name: 'node', status: 'ok', found: `${process.version} (${process.execPath})` },
    {
      name: 'configuration',
      status: errors.length > 0 ? 'problem' : diagnostics.length > 0 ? 'warning' : 'ok',
      found: sources.length > 0 ? sources.join(', ') : 'none: every setting has its default',
      advice: adviceOn(errors.length, diagnostics.length),
    },
    ...Object.entries(userDirectories(runtime)).map(([kind, path]) =>
      checkWritable(`${kind} directory`, path, `XDG_${kind.toUpperCase()}_HOME`),
    ),
    checkWritable(
      'runs, sessions',
      join(stateDirectory(context), 'projects'),
      'SKILLRAIL_STATE_DIRECTORY',
    ),
  ]
}

function adviceOn(errors: number, total: number): string | undefined {
  if (errors > 0) {
    return `${amount(errors, 'error')}, printed above. Until they are fixed, other commands are refused.`
  }
  return total > 0 ? `${amount(total, 'problem')}, printed above.` : undefined
}

function checkWritable(name: string, path: string, variable: string): Check {
  const reason = whyNotWritable(existingParent(path))
  if (reason === undefined) return { name, status: 'ok', found: path }
  return {
    name,
    status: name === 'cache directory' ? 'warning' : 'problem',
    found: `${path} cannot be written: ${reason}`,
    advice: `Give yourself the right to write there, or set ${variable}.`,
  }
}

function whyNotWritable(directory: string): string | undefined {
  try {
    if (!statSync(directory).isDirectory()) return `${directory} is not a directory`
    accessSync(directory, constants.W_OK)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Returns the nearest existing directory; missing ones below it are created when they are needed. */
function existingParent(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path))
}
