import { resolve } from 'node:path'
import { contradiction, UsageError } from './errors.ts'
import type { Runtime } from './runtime.ts'
import { readRegularFile } from './read-files.ts'

const maxBytes = 16 * 1024 * 1024

/** Text that is given as it is, as `@FILE`, or as `-` for standard input. */
export async function inputText(
  given: string,
  { runtime, stdin }: { runtime: Pick<Runtime, 'cwd'>; stdin: () => Promise<string> },
): Promise<string> {
  if (given === '-') return await stdin()
  if (!given.startsWith('@')) return given
  const path = given.slice(1)
  const file = readRegularFile(resolve(runtime.cwd, path), { maxBytes })
  if (file.ok) return file.text
  throw new UsageError({ code: file.code, message: `${path}: ${file.message}` })
}

/** @throws {UsageError} where the task and an option both read standard input, which can be read once. */
export function refuseInputTwice(task: string, option: string, value: string | undefined): void {
  if (task !== '-' || value !== '-') return
  throw contradiction('the task -', `${option} -`, 'Give one of them as text, or as @FILE.')
}
