import { resolve } from 'node:path'
import { contradiction, UsageError } from './errors.ts'
import type { Runtime } from './runtime.ts'
import { readRegularFile } from './read-files.ts'

const maxBytes = 16 * 1024 * 1024

/** Returns the text of an argument: the argument itself, the content of `@FILE`, or stdin for `-`. */
export async function inputText(
  argument: string,
  { runtime, stdin }: { runtime: Pick<Runtime, 'cwd'>; stdin: () => Promise<string> },
): Promise<string> {
  if (argument === '-') return await stdin()
  if (!argument.startsWith('@')) return argument
  const path = argument.slice(1)
  const file = readRegularFile(resolve(runtime.cwd, path), { maxBytes })
  if (file.ok) return file.text
  throw new UsageError({ code: file.code, message: file.message })
}

/** @throws {UsageError} if both the task and an option read standard input, which can be read only once. */
export function refuseInputTwice(task: string, option: string, value: string | undefined): void {
  if (task !== '-' || value !== '-') return
  throw contradiction('the task -', `${option} -`, 'Give one of them as text, or as @FILE.')
}
