/**
 * The launcher: a small process that starts programs for us, because forking a small process costs a
 * tenth of forking Node. One program at a time, in a process group of its own. Perl, because it is
 * part of every Debian, Ubuntu and macOS and has fork, pipes and the exact wait status built in; no
 * module of it is loaded.
 *
 * It reads messages, a 32-bit length and as many bytes: `P` asks for the process id of the program,
 * `C` closes its output, `Q` says that its pipes were opened (see `openQuickPipes`), and anything else
 * is a program to start, as fields between NULs: directory, file for standard input, count of words,
 * the words, and the environment as names and values.
 * It writes a letter, a 32-bit length and as many bytes: `R` ready, its process id, and of its two
 * pipes descriptor and inode (in one write, before anything else),
 * `P` process id, `O` and `E` output, `X` wait status and process id, `F` errno of a program not
 * started, after both of them `D` output closed and program gone; `Z` is `X` and `D` at once, as with
 * most programs. Once its pipes are open, it writes to them until a program has taken 50 ms, has
 * written 64 KB, left something behind or is to be ended (`P`): then `S`, and all else about this
 * program goes to standard output.
 *
 * What a program needs is made ready before the copy of this process that becomes it, since whatever
 * the two write to afterwards has to be copied for them. Its own conversations are therefore on high
 * descriptors; between programs 0 is open and 1 and 2 are free. A new descriptor is the lowest free
 * one, and a pipe's reading end comes first: so the first pipe writes at 2, and the second, once 0
 * and 1 are free again, at 1.
 *
 * Who waits on these pipes hears nothing else, so the launcher must not stand still: it is a child of
 * the process that we start, its keeper, which only waits for it and wakes it whenever a signal has
 * stopped it.
 *
 * When its input ends, we are dead, however that came: the program gets TERM, and KILL after 2 s.
 * What is not urgent waits 5 ms, so that a short program costs its starter one wake-up.
 */
export const launcherProgram = String.raw`
use strict;
my $keeper = $$;
my $launcher = fork;
defined $launcher or exit 1;
keep($launcher) if $launcher;
$0 = 'skillrail-launcher';
$SIG{$_} = sub { } for 'CHLD', 'PIPE';
my ($in, $out) = ('', '');
open(my $asks, '<&', \*STDIN) && open(my $answers, '>&', \*STDOUT) && pipe(my $failed, my $fails)
  && pipe(my $quick_in, my $quick_asks) && pipe(my $quick_tells, my $quick_out) or exit 1;
my ($tells, $quick) = $answers;
my ($spare, %pipes, %open, $watched);
open($pipes{$_}, '<', '/dev/null') or exit 1 for 'O', 'E';
close STDOUT;
close STDERR;

sub keep {
  my $launcher = shift;
  $0 = 'skillrail-keeper';
  close $_ for \*STDIN, \*STDOUT, \*STDERR;
  # 2 is WUNTRACED: of a stopped child it tells the same as of one that is gone, and then no more.
  kill 'CONT', $launcher while waitpid($launcher, 2) == $launcher;
  exit;
}
# Should the keeper be stopped itself, it would stay behind.
END { kill 'CONT', $keeper if getppid == $keeper }

sub tell_of { $out .= pack('a1 N/a*', @_) }
sub flush {
  while (length $out) {
    my $count = syswrite($tells, $out);
    if (defined $count) { substr($out, 0, $count) = '' } elsif ($! != 4) { return 0 }
  }
  return 1;
}
sub take {
  my $count = sysread($asks, $in, 65536, length $in);
  return defined $count ? $count > 0 : $! == 4;
}
sub open_quick {
  ($asks, $quick) = ($quick_in, $quick_out);
  close $quick_asks;
  close $quick_tells;
}
sub slow {
  return 1 unless $quick && $tells == $quick;
  tell_of('S', '');
  flush() or return 0;
  $tells = $answers;
}
sub message {
  return if length $in < 4;
  my $length = unpack('N', $in);
  return if length $in < 4 + $length;
  return substr(substr($in, 0, 4 + $length, ''), 4);
}
sub abandon {
  my $pid = shift;
  kill 'TERM', -$pid;
  for (1 .. 20) {
    select(undef, undef, undef, 0.1);
    waitpid($pid, 1);
    exit unless kill 0, -$pid;
  }
  kill 'KILL', -$pid;
  exit;
}
sub watch {
  $watched = '';
  vec($watched, $_, 1) = 1 for fileno($asks), keys %open;
}
sub open_standard {
  my $input = shift;
  pipe($spare, STDERR) && open($pipes{E}, '<&', $spare) && close($spare) && close(STDIN)
    && pipe($spare, STDOUT) && open($pipes{O}, '<&', $spare) && close($spare)
    && open(STDIN, '<', $input) or return;
  %open = map { fileno($pipes{$_}) => $_ } keys %pipes;
  watch();
  return 1;
}
sub start {
  my ($directory, $input, $words) = @_;
  return unless chdir($directory) && open_standard($input);
  my $pid = fork;
  return $pid if $pid || !defined $pid;
  setpgrp(0, 0);
  exec { $words->[0] } @$words;
  syswrite($fails, $! + 0);
  exit 127;
}
sub run {
  my ($directory, $input, $count, @words) = split /\0/, shift, -1;
  %ENV = splice @words, $count;
  $tells = $quick if $quick;
  my $pid = start($directory, $input, \@words);
  my $errno = $! + 0;
  close STDOUT;
  close STDERR;
  if (defined $pid) { supervise($pid) }
  else {
    tell_of('F', $errno);
    tell_of('D', '');
  }
  close $_ for values %pipes, $spare || ();
  open(STDIN, '<', '/dev/null') unless defined $pid;
}
sub supervise {
  my $pid = shift;
  setpgrp($pid, $pid);
  my ($gone, $told, $patience) = (0, 0, 0.05);
  until ($gone && !%open) {
    while (defined(my $asked = message())) {
      if ($asked eq 'C') { stop_listening() }
      elsif ($asked eq 'P') {
        tell_of('P', $pid);
        $told = 1;
        slow() && flush() or abandon($pid);
      }
    }
    last if $gone && !%open;
    my $wait = length $out ? 0.005 : !%open ? 0.002 : $told ? 0.25 : 0.05;
    my ($ready, $left) = select(my $heard = $watched, undef, undef, $wait);
    $patience -= $ready == 0 ? $wait : $wait - $left;
    if ($patience <= 0 && !$told && !$gone) {
      tell_of('P', $pid);
      $told = 1;
      slow() or abandon($pid);
    }
    if ($ready == 0) { flush() or abandon($pid) }
    elsif ($ready > 0) { listen_to($heard) or abandon($pid) }
    next if $gone || waitpid($pid, 1) != $pid;
    $gone = 1;
    my $status = $?;
    listen_to_rest() or abandon($pid);
    if (my $errno = $status && not_started()) { tell_of('F', $errno) }
    elsif (%open) {
      tell_of('X', "$status $pid");
      slow() or abandon($pid);
    }
    else { return tell_of('Z', "$status $pid") }
  }
  tell_of('D', '');
}
sub stop_listening {
  %open = ();
  watch();
  close $_ for values %pipes;
}
sub listen_to {
  my $heard = shift;
  for my $number (grep { vec($heard, $_, 1) } keys %open) {
    my $name = $open{$number};
    my $count = sysread($pipes{$name}, my $data, 65536);
    if ($count) { tell_of($name, $data) }
    elsif (defined $count || $! != 4) {
      delete $open{$number};
      watch();
    }
  }
  if (length $out > 65536) { flush() && slow() or return 0 }
  return !vec($heard, fileno($asks), 1) || take();
}
sub listen_to_rest {
  for (1, 2) {
    last unless %open && select(my $heard = $watched, undef, undef, 0) > 0;
    listen_to($heard) or return 0;
  }
  return 1;
}
sub not_started {
  my ($bits, $errno) = ('', 0);
  vec($bits, fileno($failed), 1) = 1;
  sysread($failed, $errno, 16) if select($bits, undef, undef, 0) == 1;
  return $errno;
}

tell_of('R', join ' ', $$, map { (fileno $_, (stat $_)[1]) } $quick_asks, $quick_tells);
for (;;) {
  flush() or exit;
  my $asked;
  until (defined($asked = message())) { take() or exit }
  if ($asked eq 'Q') { open_quick() } elsif (length $asked > 1) { run($asked) }
}
`
