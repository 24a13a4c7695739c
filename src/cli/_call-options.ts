import type { Command } from 'commander'

/** The options of every command that calls tools. */
export function declareCallOptions(program: Command): Command {
  return program
    .option('--output <dir>', 'where images and other files go; default .skillrail/results')
    .option('--session <id>', 'the session in which prerequisites count as done')
    .option('--skip-prerequisites', 'leave out what a workflow only warns about')
    .option('--timeout <seconds>', 'the longest that each call may take')
}
