# TCP flows over one bottleneck, or over a row of them, for ns-2.35.   usage: ns dumbbell.tcl out=PREFIX key=value ...
#
#   rate=100        bottleneck rate, Mbit/s
#   delay=50        one-way propagation delay of the bottleneck, ms
#   buf=100         limit of the bottleneck's queue, packets (droptail: the one in transmission included)
#   hops=1          number of bottlenecks in a row, all alike, between the nodes 0, 1, ... (a parking lot)
#   back_rate=0     rate of the other direction of each bottleneck, Mbit/s (0: the same)
#   back_buf=0      limit of its droptail queue, packets (0: no limit)
#   queue=droptail  red: Queue/RED with min_th, max_th and weight; ared: adaptive_ 1 with what ns-2 computes;
#                   all else as ns-2 has it by default, but packets are counted and not bytes, which is the same for
#                   packets of mean_pktsize_, and that is the size of the packets here
#   min_th=5 max_th=15 weight=0.002     of queue=red: thresholds in packets, weight of the average
#   ecn=0           1: setbit_ of the queue and ecn_ of the TCP senders
#   flows=LIST      comma-separated  variant:access_ms:start_s[:from:to[:packets]] ; access_ms is the one-way delay
#                   of each of the flow's two access links: RTT = 2*(hops that it crosses*delay + 2*access_ms);
#                   from and to are nodes, by default the first and the last one, and from the larger number to the
#                   smaller one a flow goes the other way; packets: all that it sends; with 3* before it, three of these
#                   linux/X: Agent/TCP/Linux with the control X and a SACK sink
#                   sack1, newreno, reno: ns-2's own agents
#                   hstcp: Sack1 with windowOption_ 8, the closed form of RFC 3649
#                   gaimd: Sack1 with increase 0.31 and decrease factor 0.875
#                   aimd, aimd_newreno: Sack1 and Newreno with 32 and 0.875
#   poisson=0       Mbit/s of datagrams with exponential gaps through the bottleneck
#   cbr=0           Mbit/s of datagrams with equal gaps through the bottleneck
#   spread=0        s; each flow starts up to so much later, at random
#   delack=0        1: the sinks acknowledge every second packet, or one after 100 ms
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
#   timestamps=1    0: no time stamps
#   limited=1       0: singledup_ off, no limited transmit
#   syn=1           0: syn_ of the TCP senders is false: data goes without a handshake
#   finite=0        1: also writes PREFIX.completions.csv, a line per flow with a number of packets: from its start until the
#                   last packet has arrived, which is when its acknowledgement is back less that one's way
#   bugfix=1        0: bugFix_ off, so that one window may have several fast retransmits
#   bin=0           s; if positive, also writes PREFIX.rates.csv, a line per flow: mean number of packets sent in
#                   an interval of this length, retransmissions included, and its coefficient of variation
#   every=0         s; if positive, also writes PREFIX.delivered.csv: packets acknowledged so far
#   links=0         1: also writes PREFIX.links.csv, a line per direction of each bottleneck: 0 and 1 are those of
#                   the first, 2 and 3 of the second
#
# Writes PREFIX.flows.csv, a line per flow, and PREFIX.runs.csv, a line about the first bottleneck; with queue=red and
# queue=ared also PREFIX.red.csv, a line about its parameters. remake.py names the columns.
# Packets of 1000 bytes and ACKs of 40 bytes on the wire, one ACK per packet, access links of 10 Gbit/s
# that never drop, no limit to ssthresh and the receiver's window; unless era says otherwise an initial
# window of 2 packets, time stamps and a clock of 1 ms.

if {[ns-version] ne "2.35"} {puts stderr "this is ns [ns-version], not 2.35"; exit 2}
array set P {rate 100 delay 50 buf 100 flows linux/reno:0:0 poisson 0 overhead 0 minrto 0.2 maxburst 0
    T 200 warm 60 seed 1 out run drops 0 every 0 loss 0 era now bugfix 1
    bin 0 hops 1 back_rate 0 back_buf 0 queue droptail min_th 5 max_th 15 weight 0.002 ecn 0
    cbr 0 spread 0 delack 0 links 0 timestamps 1 limited 1 syn 1 finite 0}
foreach a $argv {
    if {![regexp {^([a-zA-Z_]+)=(.*)$} $a -> k v] || ![info exists P($k)]} {puts stderr "bad key: $a"; exit 2}
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
Agent/TCP set timestamps_ [expr {$P(timestamps) ? "true" : "false"}]
if {!$P(limited)} {Agent/TCP set singledup_ 0}
Agent/TCP set syn_ [expr {$P(syn) ? "true" : "false"}]
Agent/TCP set delay_growth_ [Agent/TCP set syn_]
Agent/TCP set minrto_ $P(minrto)
Agent/TCP set maxburst_ $P(maxburst)
Agent/TCP set ts_resetRTO_ true
Agent/TCP set tcpTick_ 0.001
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink set packetSize_ 40
Agent/TCP set bugFix_ $P(bugfix)
Agent/TCP set ecn_ $P(ecn)
Queue/DropTail set limit_ 10000000
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ $PACKET
Queue/RED set setbit_ $P(ecn)
switch $P(queue) {
    droptail {set discipline DropTail}
    red {
        set discipline RED
        Queue/RED set thresh_ $P(min_th)
        Queue/RED set maxthresh_ $P(max_th)
        Queue/RED set q_weight_ $P(weight)
    }
    ared {
        set discipline RED
        Queue/RED set adaptive_ 1
    }
    default {puts stderr "unknown queue $P(queue)"; exit 2}
}
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

for {set hop 0} {$hop <= $P(hops)} {incr hop} {set node($hop) [$ns node]}
set back_rate [expr {$P(back_rate) > 0 ? $P(back_rate) : $P(rate)}]
for {set hop 0} {$hop < $P(hops)} {incr hop} {
    set near $node($hop); set far $node([expr {$hop+1}])
    $ns simplex-link $near $far $P(rate)Mb $P(delay)ms $discipline
    $ns simplex-link $far $near ${back_rate}Mb $P(delay)ms DropTail
    $ns queue-limit $near $far $P(buf)
    if {$P(back_buf) > 0} {$ns queue-limit $far $near $P(back_buf)}
}
set r1 $node(0); set r2 $node(1)
# All that follows about one bottleneck is about the first.
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

proc access {delay_ms from to} {
    global ns node
    set s [$ns node]; set d [$ns node]
    $ns duplex-link $s $node($from) 10000Mb ${delay_ms}ms DropTail
    $ns duplex-link $node($to) $d 10000Mb ${delay_ms}ms DropTail
    return [list $s $d]
}

if {$P(spread) > 0} {set later [new RNG]; for {set i 0} {$i < $P(seed)} {incr i} {$later next-substream}}
set flows {}
foreach f [split $P(flows) ,] {
    set copies 1
    regexp {^(\d+)\*(.*)$} $f -> copies f
    for {set i 0} {$i < $copies} {incr i} {lappend flows $f}
}
set n 0
foreach f $flows {
    lassign [split $f :] variant access_ms start from to packets
    if {$from eq ""} {set from 0; set to $P(hops)}
    lassign [access $access_ms $from $to] s d
    if {$P(spread) > 0} {set start [expr {$start+[$later uniform 0 $P(spread)]}]}
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
    if {$P(delack)} {append sink /DelAck}
    set k [new $sink]
    $ns attach-agent $s $t; $ns attach-agent $d $k
    $ns connect $t $k
    $t set fid_ $n
    set ftp [new Application/FTP]; $ftp attach-agent $t
    if {$packets eq ""} {$ns at $start "$ftp start"} else {$ns at $start "$ftp produce $packets"}
    set begun($t) $start
    set way_back_s($t) [expr {(abs($to-$from)*$P(delay)+2*$access_ms)/1e3+320e-6/$back_rate}]
    set number($t) $n
    set tcp($n) $t
    set name($n) [format "%s,%g,%g" $variant [expr {2*(abs($to-$from)*$P(delay)+2*$access_ms)}] $start]
    set windows($n) 0.0
    incr n
}
if {$P(finite)} {
    set completions [open $P(out).completions.csv w]
    Agent/TCP instproc done {} {
        global ns completions begun way_back_s number
        puts $completions [format "%d,%.6f" $number($self) [expr {[$ns now]-$begun($self)-$way_back_s($self)}]]
    }
}
proc datagrams {} {
    global ns P PACKET
    lassign [access 0 0 $P(hops)] s d
    set udp [new Agent/UDP]; $udp set packetSize_ $PACKET
    set null [new Agent/Null]
    $ns attach-agent $s $udp; $ns attach-agent $d $null; $ns connect $udp $null
    return $udp
}
if {$P(poisson) > 0} {
    set udp [datagrams]
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
if {$P(cbr) > 0} {
    set even [datagrams]
    proc even_datagram {} {
        global ns even PACKET P
        $even send $PACKET
        $ns at [expr {[$ns now]+$PACKET*8e-6/$P(cbr)}] even_datagram
    }
    $ns at 0.0 even_datagram
}

proc acked {i} {global tcp; return [expr {[$tcp($i) set ack_]+1}]}

set queue [$ns monitor-queue $r1 $r2 ""]
if {$P(links)} {
    for {set hop 0} {$hop < $P(hops)} {incr hop} {
        set near $node($hop); set far $node([expr {$hop+1}])
        set ahead [expr {2*$hop}]; set back [expr {2*$hop+1}]
        set monitor($ahead) [expr {$hop ? [$ns monitor-queue $near $far ""] : $queue}]
        set monitor($back) [$ns monitor-queue $far $near ""]
        set capacity($ahead) $P(rate); set capacity($back) $back_rate
        lappend links $ahead $back
    }
    foreach link $links {set waiting($link) 0.0}
}
set red [[$ns link $r1 $r2] queue]
set samples 0; set measured 0; set queued 0.0; set averages 0.0; set largest_p 0.0
proc sample {} {
    global ns P SAMPLE_S n tcp windows queue samples measured queued links monitor waiting red averages largest_p
    if {[$ns now] >= $P(warm)} {
        incr measured
        set queued [expr {$queued+[$queue set pkts_]}]
        if {$P(links)} {
            foreach link $links {set waiting($link) [expr {$waiting($link)+[$monitor($link) set pkts_]}]}
        }
        if {$P(queue) ne "droptail"} {
            set averages [expr {$averages+[$red set ave_]}]
            set largest_p [expr {$largest_p+[$red set cur_max_p_]}]
        }
        for {set i 0} {$i < $n} {incr i} {set windows($i) [expr {$windows($i)+[$tcp($i) set cwnd_]}]}
    }
    incr samples
    $ns at [expr {($samples+0.5)*$SAMPLE_S}] sample
}
$ns at [expr {0.5*$SAMPLE_S}] sample

proc counters {monitor} {return [list [$monitor set pdrops_] [$monitor set pmarks_] [$monitor set bdepartures_]]}

proc begin {} {
    global P n acked_before queue drops_before departed_before links monitor before
    for {set i 0} {$i < $n} {incr i} {set acked_before($i) [acked $i]}
    set drops_before [$queue set pdrops_]; set departed_before [$queue set bdepartures_]
    if {$P(links)} {foreach link $links {set before($link) [counters $monitor($link)]}}
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

# Tcl sees the lowest 32 bits of a counter of bytes.
proc utilisation {bytes_before bytes_now rate_mbps} {
    global P
    return [expr {(($bytes_now-$bytes_before) & 0xffffffff)*8e-6/($rate_mbps*($P(T)-$P(warm)))}]
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
        [utilisation $departed_before [$queue set bdepartures_] $P(rate)]]
    close $f
    if {$P(links)} {
        global links monitor waiting capacity before
        set f [open $P(out).links.csv w]
        foreach link $links {
            lassign $before($link) drops_then marks_then bytes_then
            lassign [counters $monitor($link)] drops_now marks_now bytes_now
            puts $f [format "%d,%d,%d,%d,%.3f,%.6f" $link $drops_now [expr {$drops_now-$drops_then}] \
                [expr {$marks_now-$marks_then}] [expr {$waiting($link)/$measured}] \
                [utilisation $bytes_then $bytes_now $capacity($link)]]
        }
        close $f
    }
    if {$P(queue) ne "droptail"} {
        global red averages largest_p
        set f [open $P(out).red.csv w]
        puts $f [format "%g,%g,%g,%g,%.3f,%.5f" [$red set thresh_] [$red set maxthresh_] [$red set q_weight_] \
            [$red set bottom_] [expr {$averages/$measured}] [expr {$largest_p/$measured}]]
        close $f
    }
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
    if {$P(finite)} {global completions; close $completions}
    if {$P(drops)} {global drops; flush $drops; close $drops}
    if {$P(every) > 0} {global delivered; close $delivered}
    exit 0
}
$ns at $P(T) finish
$ns run
