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
 * It writes a letter, a 32-bit length and as many bytes: `R` ready and the descriptors of its pipes,
 * `P` process id, `O` and `E` output, `X` wait status and process id, `F` errno of a program not
 * started, after both of them `D` output closed and program gone; `Z` is `X` and `D` at once, as with
 * most programs. Once its pipes are open, it writes to them until a program has taken 50 ms, has
 * written 64 KB or left something behind: then `S`, and all else about this program goes to standard
 * output.
 *
 * When its input ends, we are dead, however that came: the program gets TERM, and KILL after 2 s.
 * What is not urgent waits 5 ms, so that a short program costs its starter one wake-up.
 */
export const launcherProgram = String.raw`
use strict;
$0 = 'skillrail-launcher';
$SIG{CHLD} = sub { };
$SIG{PIPE} = 'IGNORE';
my ($in, $out) = ('', '');
pipe(my $failed, my $fails) && pipe(my $quick_in, my $quick_asks)
  && pipe(my $quick_tells, my $quick_out) or exit 1;
my ($asks, $tells, $quick) = (\*STDIN, \*STDOUT);

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
  $tells = \*STDOUT;
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
sub start {
  my ($directory, $input, $words, $outputs) = @_;
  my $pid = fork;
  return $pid if $pid || !defined $pid;
  setpgrp(0, 0);
  $SIG{PIPE} = 'DEFAULT';
  if (chdir($directory) && open(STDIN, '<', $input)
    && open(STDOUT, '>&', $outputs->[0]) && open(STDERR, '>&', $outputs->[1])) {
    exec { $words->[0] } @$words;
  }
  syswrite($fails, $! + 0);
  exit 127;
}
sub run {
  my ($directory, $input, $count, @words) = split /\0/, shift, -1;
  %ENV = splice @words, $count;
  $tells = $quick if $quick;
  pipe(my $or, my $ow) && pipe(my $er, my $ew) or return tell_of('F', $! + 0);
  supervise(start($directory, $input, \@words, [$ow, $ew]), $ow, $ew, $or, $er);
}
sub supervise {
  my ($pid, $ow, $ew, $or, $er) = @_;
  return tell_of('F', $! + 0) unless defined $pid;
  setpgrp($pid, $pid);
  close $ow;
  close $ew;
  my %open = (fileno($or) => ['O', $or], fileno($er) => ['E', $er]);
  my ($gone, $told, $patience) = (0, 0, 0.05);
  for (;;) {
    if (!$gone && waitpid($pid, 1) == $pid) {
      $gone = 1;
      my ($status, $bits) = ($?, '');
      vec($bits, fileno($failed), 1) = 1;
      if ($status == 127 << 8 && select($bits, undef, undef, 0) == 1) {
        sysread($failed, my $errno, 16);
        tell_of('F', $errno);
      }
      elsif (%open) {
        tell_of('X', "$status $pid");
        slow() or abandon($pid);
      }
      else { return tell_of('Z', "$status $pid") }
    }
    while (defined(my $asked = message())) {
      if ($asked eq 'C') { %open = () }
      elsif ($asked eq 'P') { tell_of('P', $pid); $told = 1; flush() }
    }
    last if $gone && !%open;
    my $bits = '';
    vec($bits, $_, 1) = 1 for fileno($asks), keys %open;
    my $wait = length $out ? 0.005 : !%open ? 0.002 : $told ? 0.25 : 0.05;
    my ($ready, $left) = select($bits, undef, undef, $wait);
    $patience -= $ready == 0 ? $wait : $wait - $left;
    if ($patience <= 0 && !$told && !$gone) {
      tell_of('P', $pid);
      $told = 1;
      slow() or abandon($pid);
    }
    if ($ready == 0) { flush() or abandon($pid) }
    next if $ready <= 0;
    for my $number (grep { vec($bits, $_, 1) } keys %open) {
      my ($name, $pipe) = @{ $open{$number} };
      my $count = sysread($pipe, my $data, 65536);
      if ($count) { tell_of($name, $data) }
      elsif (defined $count || $! != 4) { delete $open{$number} }
    }
    if (length $out > 65536) { flush() && slow() or abandon($pid) }
    if (vec($bits, fileno($asks), 1)) { take() or abandon($pid) }
  }
  tell_of('D', '');
}

tell_of('R', fileno($quick_asks) . ' ' . fileno($quick_tells));
for (;;) {
  flush() or exit;
  my $asked;
  until (defined($asked = message())) { take() or exit }
  if ($asked eq 'Q') { open_quick() } elsif (length $asked > 1) { run($asked) }
}
`
