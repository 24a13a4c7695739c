import { windowsProgram } from '#core/find-program'
import { type ProcessRequest, type ProcessResult, runProcess } from './process.ts'

export interface ShellCommandRequest extends Pick<
  ProcessRequest,
  'cwd' | 'env' | 'outputLimit' | 'signal' | 'timeoutMs' | 'stdin'
> {
  /** A command line for `/bin/sh`, or for `cmd` on Windows. */
  command: string
  platform: NodeJS.Platform
}

/** Runs a command line with the platform's shell. Resolves as {@link runProcess} does. */
export async function runShellCommand(request: ShellCommandRequest): Promise<ProcessResult> {
  const { command, platform, ...processRequest } = request
  const isWindows = platform === 'win32'
  return await runProcess({
    ...processRequest,
    file: isWindows ? windowsProgram('cmd.exe', request) : '/bin/sh',
    args: isWindows ? ['/d', '/s', '/c', command] : ['-c', command],
  })
}
