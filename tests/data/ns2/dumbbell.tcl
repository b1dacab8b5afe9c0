# TCP flows over one bottleneck, for ns-2.35.   usage: ns dumbbell.tcl out=PREFIX key=value ...
#
#   rate=100        bottleneck rate, Mbit/s
#   delay=50        one-way propagation delay of the bottleneck, ms
#   buf=100         limit of the bottleneck's droptail queue, packets (the one in transmission included)
#   flows=LIST      comma-separated  variant:access_ms:start_s ; access_ms is the one-way delay of each of
#                   the flow's two access links: RTT = 2*(delay + 2*access_ms)
#                   linux/X: Agent/TCP/Linux with the control X and a SACK sink
#                   sack1, newreno, reno: ns-2's own agents
#                   hstcp: Sack1 with windowOption_ 8, the closed form of RFC 3649
#                   gaimd: Sack1 with increase 0.31 and decrease factor 0.875
#                   aimd, aimd_newreno: Sack1 and Newreno with 32 and 0.875
#   poisson=0       Mbit/s of datagrams with exponential gaps through the bottleneck
#   overhead=0      overhead_ of the TCP senders, s
#   minrto=0.2      minimum retransmission timeout, s
#   maxburst=0      maxburst_ of the TCP senders, packets (0: no limit)
#   loss=0          probability with which each packet is lost on its way into the bottleneck
#   era=now         2000: the options of ns-2 before 2001, namely no time stamps, a clock of 100 ms, no minimum of the
#                   retransmission timeout but two ticks, a backoff of 64 at most, no limited transmit, an initial
#                   window of 1 packet
#   T=200 warm=60   length of the run; statistics are taken from warm to T, s
#   seed=1
#   drops=0         1: also writes PREFIX.drops.csv, time and flow of every drop from warm on
#   bugfix=1        0: bugFix_ off, so that one window may have several fast retransmits
#   bin=0           s; if positive, also writes PREFIX.rates.csv, a line per flow: mean number of packets sent in
#                   an interval of this length, retransmissions included, and its coefficient of variation
#   every=0         s; if positive, also writes PREFIX.delivered.csv: packets acknowledged so far
#
# Writes PREFIX.flows.csv, a line per flow, and PREFIX.runs.csv, a line; remake.py names the columns.
# Packets of 1000 bytes and ACKs of 40 bytes on the wire, one ACK per packet, access links of 10 Gbit/s
# that never drop, no limit to ssthresh and the receiver's window; unless era says otherwise an initial
# window of 2 packets, time stamps and a clock of 1 ms.

if {[ns-version] ne "2.35"} {puts stderr "this is ns [ns-version], not 2.35"; exit 2}
array set P {rate 100 delay 50 buf 100 flows linux/reno:0:0 poisson 0 overhead 0 minrto 0.2 maxburst 0
    T 200 warm 60 seed 1 out run drops 0 every 0 loss 0 era now bugfix 1
    bin 0}
foreach a $argv {
    if {![regexp {^([a-zA-Z]+)=(.*)$} $a -> k v] || ![info exists P($k)]} {puts stderr "bad key: $a"; exit 2}
    set P($k) $v
}
set PACKET 1000
set SAMPLE_S 0.01

set ns [new Simulator]
$defaultRNG seed $P(seed)

Agent/TCP set window_ 10000000
Agent/TCP set windowInit_ 2
Agent/TCP set overhead_ $P(overhead)
Agent/TCP set packetSize_ $PACKET
Agent/TCP set useHeaders_ false
Agent/TCP set timestamps_ true
Agent/TCP set minrto_ $P(minrto)
Agent/TCP set maxburst_ $P(maxburst)
Agent/TCP set ts_resetRTO_ true
Agent/TCP set tcpTick_ 0.001
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink set packetSize_ 40
Agent/TCP set bugFix_ $P(bugfix)
Queue/DropTail set limit_ 10000000
switch $P(era) {
    now {}
    2000 {
        # Defaults that tcl/lib/ns-default.tcl says were changed in 2001 and 2002, as they were before.
        Agent/TCP set timestamps_ false
        Agent/TCP set tcpTick_ 0.1
        Agent/TCP set minrto_ 0
        Agent/TCP set rfc2988_ false
        Agent/TCP set singledup_ 0
        Agent/TCP set windowInit_ 1
    }
    default {puts stderr "unknown era $P(era)"; exit 2}
}

set r1 [$ns node]; set r2 [$ns node]
$ns simplex-link $r1 $r2 $P(rate)Mb $P(delay)ms DropTail
$ns simplex-link $r2 $r1 $P(rate)Mb $P(delay)ms DropTail
$ns queue-limit $r1 $r2 $P(buf)
if {$P(loss) > 0} {
    set losses [new ErrorModel]
    $losses set rate_ $P(loss)
    $losses unit pkt
    $losses ranvar [new RandomVariable/Uniform]
    $losses drop-target [new Agent/Null]
    $ns lossmodel $losses $r1 $r2
}
if {$P(drops)} {
    set drops [open "| awk {/^d/ && \$2 >= $P(warm) {print \$2\",\"\$8}} > $P(out).drops.csv" w]
    $ns trace-queue $r1 $r2 $drops
}

proc access {delay_ms} {
    global ns r1 r2
    set s [$ns node]; set d [$ns node]
    $ns duplex-link $s $r1 10000Mb ${delay_ms}ms DropTail
    $ns duplex-link $r2 $d 10000Mb ${delay_ms}ms DropTail
    return [list $s $d]
}

set n 0
foreach f [split $P(flows) ,] {
    lassign [split $f :] variant access_ms start
    lassign [access $access_ms] s d
    set sink Agent/TCPSink/Sack1
    switch -glob $variant {
        linux/* {set t [new Agent/TCP/Linux]; $ns at 0.0 "$t select_ca [string range $variant 6 end]"}
        sack1 - gaimd - aimd - hstcp {set t [new Agent/TCP/Sack1]}
        reno {set t [new Agent/TCP/Reno]; set sink Agent/TCPSink}
        newreno - aimd_newreno {set t [new Agent/TCP/Newreno]; set sink Agent/TCPSink}
        default {puts stderr "unknown variant $variant"; exit 2}
    }
    switch $variant {
        hstcp {
            $t set windowOption_ 8; $t set low_window_ 38; $t set high_window_ 83000
            $t set high_p_ 0.0000001; $t set high_decrease_ 0.1; $t set hstcp_fix_ 1; $t set max_ssthresh_ 0
        }
        gaimd {$t set increase_num_ 0.31; $t set decrease_num_ 0.875}
        aimd - aimd_newreno {$t set increase_num_ 32; $t set decrease_num_ 0.875}
    }
    set k [new $sink]
    $ns attach-agent $s $t; $ns attach-agent $d $k
    $ns connect $t $k
    $t set fid_ $n
    set ftp [new Application/FTP]; $ftp attach-agent $t
    $ns at $start "$ftp start"
    set tcp($n) $t
    set name($n) [format "%s,%g,%g" $variant [expr {2*($P(delay)+2*$access_ms)}] $start]
    set windows($n) 0.0
    incr n
}
if {$P(poisson) > 0} {
    lassign [access 0] s d
    set udp [new Agent/UDP]; $udp set packetSize_ $PACKET
    set null [new Agent/Null]
    $ns attach-agent $s $udp; $ns attach-agent $d $null; $ns connect $udp $null
    set stream [new RNG]; for {set i 0} {$i < $P(seed)} {incr i} {$stream next-substream}
    set gap [new RandomVariable/Exponential]; $gap use-rng $stream
    $gap set avg_ [expr {$PACKET*8e-6/$P(poisson)}]
    proc datagram {} {
        global ns udp gap PACKET
        $udp send $PACKET
        $ns at [expr {[$ns now]+[$gap value]}] datagram
    }
    $ns at 0.0 datagram
}

proc acked {i} {global tcp; return [expr {[$tcp($i) set ack_]+1}]}

set queue [$ns monitor-queue $r1 $r2 ""]
set samples 0; set measured 0; set queued 0.0
proc sample {} {
    global ns P SAMPLE_S n tcp windows queue samples measured queued
    if {[$ns now] >= $P(warm)} {
        incr measured
        set queued [expr {$queued+[$queue set pkts_]}]
        for {set i 0} {$i < $n} {incr i} {set windows($i) [expr {$windows($i)+[$tcp($i) set cwnd_]}]}
    }
    incr samples
    $ns at [expr {($samples+0.5)*$SAMPLE_S}] sample
}
$ns at [expr {0.5*$SAMPLE_S}] sample

proc begin {} {
    global n acked_before queue drops_before departed_before
    for {set i 0} {$i < $n} {incr i} {set acked_before($i) [acked $i]}
    set drops_before [$queue set pdrops_]; set departed_before [$queue set pdepartures_]
}
$ns at $P(warm) begin

if {$P(bin) > 0} {
    set intervals 0
    for {set i 0} {$i < $n} {incr i} {set rate_sum($i) 0.0; set rate_squares($i) 0.0; set sent_before($i) 0}
    proc count {} {
        global ns P n tcp intervals rate_sum rate_squares sent_before
        for {set i 0} {$i < $n} {incr i} {
            set sent [$tcp($i) set ndatapack_]
            if {$intervals > 0} {
                set packets [expr {$sent-$sent_before($i)}]
                set rate_sum($i) [expr {$rate_sum($i)+$packets}]
                set rate_squares($i) [expr {$rate_squares($i)+double($packets)*$packets}]
            }
            set sent_before($i) $sent
        }
        incr intervals
        $ns at [expr {$P(warm)+$intervals*$P(bin)}] count
    }
    $ns at $P(warm) count
}

if {$P(every) > 0} {
    set delivered [open $P(out).delivered.csv w]
    set deliveries 0
    proc deliver {} {
        global ns P n delivered deliveries
        for {set i 0} {$i < $n} {incr i} {puts $delivered "[format %g [$ns now]],$i,[acked $i]"}
        incr deliveries
        $ns at [expr {$deliveries*$P(every)}] deliver
    }
    $ns at 0.0 deliver
}

proc finish {} {
    global ns P PACKET n tcp name windows measured queued acked_before queue drops_before departed_before
    set seconds [expr {$P(T)-$P(warm)}]
    set f [open $P(out).flows.csv w]
    for {set i 0} {$i < $n} {incr i} {
        puts $f [format "%d,%s,%.5f,%.3f,%s,%s,%s" $i $name($i) \
            [expr {([acked $i]-$acked_before($i))*$PACKET*8e-6/$seconds}] [expr {$windows($i)/$measured}] \
            [$tcp($i) set ncwndcuts_] [$tcp($i) set nrexmit_] [$tcp($i) set nrexmitpack_]]
    }
    close $f
    set f [open $P(out).runs.csv w]
    puts $f [format "%d,%d,%.3f,%.6f" [$queue set pdrops_] [expr {[$queue set pdrops_]-$drops_before}] \
        [expr {$queued/$measured}] \
        [expr {([$queue set pdepartures_]-$departed_before)*$PACKET*8e-6/($P(rate)*$seconds)}]]
    close $f
    if {$P(bin) > 0} {
        global intervals rate_sum rate_squares
        set f [open $P(out).rates.csv w]
        set whole [expr {$intervals-1}]
        for {set i 0} {$i < $n} {incr i} {
            set mean [expr {$rate_sum($i)/$whole}]
            set variance [expr {$rate_squares($i)/$whole-$mean*$mean}]
            puts $f [format "%d,%.5f,%.5f" $i $mean [expr {sqrt($variance)/$mean}]]
        }
        close $f
    }
    if {$P(drops)} {global drops; flush $drops; close $drops}
    if {$P(every) > 0} {global delivered; close $delivered}
    exit 0
}
$ns at $P(T) finish
$ns run
