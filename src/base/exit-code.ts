/** The exit codes of every command. `refused` beats `notFound` where both apply. */
export const exitCode = {
  done: 0,
  badAnswer: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  budget: 5,
  waiting: 6,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
