import type { Command } from 'commander'
import { UsageError } from '../base/index.ts'

export interface TrustOptions {
  list?: boolean | undefined
  revoke?: boolean | undefined
  pin?: boolean | undefined
  yes?: boolean | undefined
  dryRun?: boolean | undefined
  lock?: boolean | undefined
  check?: boolean | undefined
  unlock?: boolean | undefined
}

/** What each way to use the command goes with; every other pair would leave one of them unheeded. */
const modes: readonly { mode: keyof TrustOptions; with: readonly (keyof TrustOptions)[] }[] = [
  { mode: 'list', with: [] },
  { mode: 'revoke', with: ['yes'] },
  { mode: 'unlock', with: ['yes'] },
  { mode: 'check', with: ['lock', 'yes', 'dryRun'] },
  { mode: 'lock', with: ['pin', 'yes', 'dryRun'] },
]

const flags = {
  list: '--list',
  revoke: '--revoke',
  pin: '--pin',
  yes: '--yes',
  dryRun: '--dry-run',
  lock: '--lock',
  check: '--check',
  unlock: '--unlock',
} as const satisfies Record<keyof TrustOptions, string>

/** @throws {UsageError} for options of which one, or the path, would go unheeded. */
export function requireOneMode(options: TrustOptions, path: string | undefined): void {
  const { check, list, lock, pin } = options
  if (list === true && path !== undefined) {
    throw new UsageError({
      code: 'wrong-use',
      message: `--list shows every workspace that is trusted; ${path} would be left unheeded`,
      hint: `skillrail trust ${path} --dry-run shows what is trusted there.`,
    })
  }
  if (check === true && lock !== true) {
    throw new UsageError({
      code: 'wrong-use',
      message: '--check belongs to --lock',
      hint: 'skillrail trust --lock --check compares the skills with the lock files.',
    })
  }
  const found = modes.find(({ mode }) => options[mode] === true)
  if (found === undefined) return
  const keys = Object.keys(flags).filter(isOption)
  const other = keys.find(
    (key) => key !== found.mode && options[key] !== undefined && !found.with.includes(key),
  )
  if (other === undefined) return
  const flag = other === 'pin' && pin === false ? '--no-pin' : flags[other]
  throw apart(flags[found.mode], flag)
}

/** Of `--pin --no-pin` the last one would win unsaid. */
export function refuseBothPins(program: Command): void {
  const said = new Set<string>()
  for (const name of ['pin', 'no-pin']) {
    program.on(`option:${name}`, () => {
      if (said.add(name).size > 1) throw apart('--pin', '--no-pin')
    })
  }
}

function apart(one: string, other: string): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: `${one} and ${other} do not go together`,
    hint: `Give one of them; skillrail trust --help says what each does.`,
  })
}

function isOption(key: string): key is keyof TrustOptions {
  return key in flags
}
