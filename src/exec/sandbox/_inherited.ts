import { readdirSync, readFileSync } from 'node:fs'

/**
 * Descriptors that a program started by us would inherit from whoever started us: Node closes only
 * its own. A directory among them would be a way out of any sandbox.
 */
export function inheritedDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo')
      .map(Number)
      .filter((descriptor) => descriptor > 2 && isPassedOn(descriptor))
  } catch {
    return []
  }
}

/** The flag `O_CLOEXEC`, in octal as the kernel prints it. */
const closesOnExec = 0o2000000

function isPassedOn(descriptor: number): boolean {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
    const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & closesOnExec) === 0
  } catch {
    return false
  }
}
