import { describe, expect, it } from 'vitest'
import { commandMayFit } from '../../../src/agent/approval/command-patterns.ts'

describe('a denied pattern', () => {
  it.each([
    ['ls', 'rm:*', 'no'],
    ['ls; rm x', 'rm:*', 'yes'],
    ['ls $(rm x)', 'rm:*', 'unclear'],
    ['/bin/rm x', 'rm:*', 'yes'],
    ['../rm x', 'rm:*', 'yes'],
    ['git push', 'git push:*', 'yes'],
    ['/usr/bin/git push', 'git push:*', 'yes'],
    ['git pull', 'git push:*', 'no'],
    ['git log --grep push', 'git push:*', 'no'],
    ['git --version', 'git push:*', 'no'],
    ['git add *.ts', 'git push:*', 'no'],
    ['ls *.ts', 'rm:*', 'no'],
    ['git pus?', 'git push:*', 'unclear'],
    ['git [p]ush', 'git push:*', 'unclear'],
    ["git 'pus?'", 'git push:*', 'no'],
    ['git -C . push', 'git push:*', 'unclear'],
    ['git -c x=y push', 'git push:*', 'unclear'],
    ['git -c alias.x=push x', 'git push:*', 'unclear'],
    ['/usr/bin/git -C . push', 'git push:*', 'unclear'],
    ['git push origin --force', 'git push --force:*', 'unclear'],
    ['git push origin main', 'git push --force:*', 'no'],
    ['rm -fr x', 'rm -rf:*', 'unclear'],
    ['npm --silent run test:unit', 'npm run test:*', 'unclear'],
    ['npm run test:unit', 'npm run test:*', 'yes'],
    ['git push origin main', 'git * main', 'yes'],
    ['git push origin mai?', 'git * main', 'unclear'],
    ['./deploy now', './deploy:*', 'yes'],
    ['../here/deploy now', './deploy:*', 'unclear'],
    ['env rm -rf x', 'rm:*', 'unclear'],
    ['/usr/bin/env -i rm x', 'rm:*', 'unclear'],
    ['ls | xargs rm', 'rm:*', 'unclear'],
    ["sh -c 'rm x'", 'rm:*', 'unclear'],
    ['echo rm x | sh', 'rm:*', 'unclear'],
    ['nohup rm x', 'rm:*', 'unclear'],
    ['timeout 5 rm x', 'rm:*', 'unclear'],
    ['another-wrapper --now rm x', 'rm:*', 'unclear'],
    ["find . -exec sh -c 'rm x' +", 'rm:*', 'unclear'],
    ["python3.12 -c 'import os'", 'rm:*', 'unclear'],
    ['python3 tool.py', 'rm:*', 'no'],
    ['which sh', 'rm:*', 'no'],
  ])('compares %j with %j: %s', (line, pattern, answer) => {
    expect(commandMayFit(line, [pattern], 'linux')).toBe(answer)
  })

  it('ignores the case of programs where the system does', () => {
    expect(commandMayFit('GIT push', ['git push:*'], 'darwin')).toBe('unclear')
    expect(commandMayFit('Git.exe push', ['git push:*'], 'win32')).toBe('unclear')
    expect(commandMayFit('GIT push', ['git push:*'], 'linux')).toBe('no')
  })
})
