// Exits with 0 if the remote has the last commit.
import { execFileSync } from 'node:child_process'

const git = (...words) => execFileSync('git', words, { encoding: 'utf8' })
const remote = git('ls-remote', 'origin', 'refs/heads/main').split('\t')[0]
const isPublished = remote === git('rev-parse', 'HEAD').trim()

if (!isPublished) console.error('the remote does not have the last commit')
process.exitCode = isPublished ? 0 : 1
