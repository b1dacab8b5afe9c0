# Single-bottleneck dumbbell for ns-2.35.   usage: ns dumbbell.tcl key=value ...
#
#   rate=100        bottleneck rate, Mbit/s
#   delay=50        bottleneck one-way propagation delay, ms
#   buf=100         bottleneck queue-limit in packets (ns-2 DropTail: at most buf packets in
#                   the system, i.e. buf-1 waiting + 1 being transmitted)
#   qdisc=droptail  droptail | red   (red_min red_max [pkts], red_wq, red_maxp, red_gentle)
#   pkt=1000        wire size of a data packet in bytes (useHeaders_ false => no extra headers)
#   ack=40          wire size of an ACK
#   arate=10000     access link rate, Mbit/s (access queues are 10^7 packets: never drop)
#   flows=LIST      comma separated  variant:access_ms:start_s ; access_ms is the one-way delay of
#                   EACH of the two access links of that flow: RTT = 2*(delay + 2*access_ms)
#                   variants: linux/<ca> (Agent/TCP/Linux + Sack1 sink), sack1, hstcp (Sack1 +
#                   windowOption_ 8), gaimd (Sack1, 0.31 and 0.875), aimd, aimd_newreno (32 and 0.875), reno,
#                   newreno, vegas, tfrc
#   poisson=0       Mbit/s of 1000-byte datagrams, exponential gaps, through the bottleneck
#   drops=0         1: PREFIX.drops.csv, one line per drop at the bottleneck: time, flow, packet
#   maxburst=0      maxburst_ of TCP senders
#   loss=0          Bernoulli loss probability on the forward bottleneck (after the queue)
#   T=300           run length, s     warm=100  statistics also taken over [warm,T]
#   overhead=0      overhead_ of TCP senders (s)
#   delack=0        1: delayed-ACK sinks
#   win=1e7         window_ (= initial ssthresh as well, see ssth)
#   ssth=0          initial ssthresh in packets (0: leave at default = window_)
#   minrto=0.2      initcwnd=2     seed=1
#   out=PREFIX      writes PREFIX.flows.csv, PREFIX.trace.csv, PREFIX.link.csv; empty: no tracing
#   ts=0.1          trace row interval; ss=0.01 sampling interval of the time means
#   flowmon=1       per-flow drop counts (needs out)
#   direct=0        1: no access links (or one, 2*access_ms, if access_ms>0)
#   rt=0            >0: writes PREFIX.rate.csv = cumulative packets sent per flow every rt seconds
set P(rate) 100; set P(delay) 50; set P(buf) 100; set P(qdisc) droptail; set P(pkt) 1000; set P(ack) 40
set P(arate) 10000; set P(flows) linux/reno:0:0; set P(loss) 0; set P(T) 300; set P(warm) 100
set P(overhead) 0; set P(delack) 0; set P(win) 10000000; set P(ssth) 0; set P(minrto) 0.2; set P(initcwnd) 2
set P(seed) 1; set P(out) ""; set P(ts) 0.1; set P(ss) 0.01; set P(flowmon) 1; set P(rt) 0
set P(red_min) 5; set P(red_max) 15; set P(red_wq) 0.002; set P(red_maxp) 0.1; set P(red_gentle) 1
set P(poisson) 0; set P(drops) 0; set P(maxburst) 0; set P(direct) 0; set P(red_bytes) 0; set P(sched) Calendar
foreach a $argv {
    if {![regexp {^([a-z_A-Z0-9]+)=(.*)$} $a -> k v]} {puts stderr "bad arg $a"; exit 2}
    if {![info exists P($k)]} {puts stderr "unknown key $k"; exit 2}
    set P($k) $v
}
set ns [new Simulator]
$ns use-scheduler $P(sched)
$defaultRNG seed $P(seed)

Agent/TCP set window_ $P(win)
Agent/TCP set windowInit_ $P(initcwnd)
Agent/TCP set overhead_ $P(overhead)
Agent/TCP set packetSize_ $P(pkt)
Agent/TCP set useHeaders_ false
Agent/TCP set timestamps_ true
Agent/TCP set minrto_ $P(minrto)
Agent/TCP set maxburst_ $P(maxburst)
Agent/TCP set ts_resetRTO_ true
Agent/TCP set tcpTick_ 0.001
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink set packetSize_ $P(ack)
Agent/TFRC set packetSize_ $P(pkt)
catch {Agent/TFRC set useHeaders_ false}
Queue/DropTail set limit_ 10000000
Queue/RED set gentle_ [expr {$P(red_gentle) ? "true" : "false"}]
Queue/RED set thresh_ $P(red_min)
Queue/RED set maxthresh_ $P(red_max)
Queue/RED set q_weight_ $P(red_wq)
Queue/RED set linterm_ [expr {1.0/$P(red_maxp)}]
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ $P(pkt)
Queue/RED set adaptive_ 0

set r1 [$ns node]; set r2 [$ns node]
set Q(droptail) DropTail; set Q(red) RED
$ns simplex-link $r1 $r2 $P(rate)Mb $P(delay)ms $Q($P(qdisc))
$ns simplex-link $r2 $r1 $P(rate)Mb $P(delay)ms DropTail
$ns queue-limit $r1 $r2 $P(buf)
$ns queue-limit $r2 $r1 10000000
set lossmon ""
if {$P(loss) > 0} {
    set em [new ErrorModel]
    $em unit pkt
    $em set rate_ $P(loss)
    set rv [new RandomVariable/Uniform]
    set rng [new RNG]; for {set i 0} {$i < $P(seed)} {incr i} {$rng next-substream}
    $rv use-rng $rng
    $em ranvar $rv
    set lossmon [new Agent/LossMonitor]
    $ns attach-agent $r2 $lossmon
    $ns link-lossmodel $em $r1 $r2
    $em drop-target $lossmon    ;# after link-lossmodel, which would count the losses as queue drops
}
if {$P(drops)} {
    set dtf [open "| awk {/^d/{print \$2\",\"\$8\",\"\$11}} > $P(out).drops.csv" w]
    $ns trace-queue $r1 $r2 $dtf
}
set n 0
foreach f [split $P(flows) ,] {
    lassign [split $f :] var acc start
    if {$acc eq ""} {set acc 0}; if {$start eq ""} {set start 0}
    if {!$P(direct)} {
        set s [$ns node]; set d [$ns node]
        $ns duplex-link $s $r1 $P(arate)Mb ${acc}ms DropTail
        $ns duplex-link $r2 $d $P(arate)Mb ${acc}ms DropTail
        foreach {a b} [list $s $r1 $r1 $s $r2 $d $d $r2] {$ns queue-limit $a $b 10000000}
    } else {
        set d $r2; set s $r1
        if {$acc > 0} {
            set s [$ns node]
            $ns duplex-link $s $r1 $P(arate)Mb [expr {2*$acc}]ms DropTail
            foreach {a b} [list $s $r1 $r1 $s] {$ns queue-limit $a $b 10000000}
        }
    }
    set sinkt [expr {$P(delack) ? "Agent/TCPSink/Sack1/DelAck" : "Agent/TCPSink/Sack1"}]
    set kind($n) tcp
    switch -glob $var {
        linux/*  {set t [new Agent/TCP/Linux]; set ca [string range $var 6 end]
                  $ns at 0.0 "$t select_ca $ca"}
        sack1    {set t [new Agent/TCP/Sack1]}
        hstcp    {set t [new Agent/TCP/Sack1]; $t set windowOption_ 8; $t set low_window_ 38
                  $t set high_window_ 83000; $t set high_p_ 0.0000001; $t set high_decrease_ 0.1
                  $t set hstcp_fix_ 1; $t set max_ssthresh_ 0}
        gaimd    {set t [new Agent/TCP/Sack1]; $t set windowOption_ 1; $t set increase_num_ 0.31; $t set decrease_num_ 0.875}
        aimd     {set t [new Agent/TCP/Sack1]; $t set windowOption_ 1; $t set increase_num_ 32; $t set decrease_num_ 0.875}
        aimd_newreno {set t [new Agent/TCP/Newreno]; $t set windowOption_ 1; $t set increase_num_ 32; $t set decrease_num_ 0.875
                  set sinkt [expr {$P(delack) ? "Agent/TCPSink/DelAck" : "Agent/TCPSink"}]}
        reno     {set t [new Agent/TCP/Reno]; set sinkt [expr {$P(delack) ? "Agent/TCPSink/DelAck" : "Agent/TCPSink"}]}
        newreno  {set t [new Agent/TCP/Newreno]; set sinkt [expr {$P(delack) ? "Agent/TCPSink/DelAck" : "Agent/TCPSink"}]}
        vegas    {set t [new Agent/TCP/Vegas]; $t set v_alpha_ 2; $t set v_beta_ 4; $t set v_gamma_ 1
                  set sinkt [expr {$P(delack) ? "Agent/TCPSink/DelAck" : "Agent/TCPSink"}]}
        tfrc     {set t [new Agent/TFRC]; set sinkt Agent/TFRCSink; set kind($n) tfrc}
        default  {puts stderr "unknown variant $var"; exit 2}
    }
    set k [new $sinkt]
    $ns attach-agent $s $t; $ns attach-agent $d $k
    $ns connect $t $k
    $t set fid_ $n
    set tcp($n) $t; set sink($n) $k; set name($n) $var; set sacc($n) $acc; set sstart($n) $start
    if {$kind($n) eq "tcp"} {
        if {$P(ssth) > 0} {$ns at 0.0 "$t set ssthresh_ $P(ssth)"}
        set ftp [new Application/FTP]; $ftp attach-agent $t
        $ns at $start "$ftp start"
    } else {$ns at $start "$t start"}
    incr n
}
if {$P(poisson) > 0} {
    set us [$ns node]; set ud [$ns node]
    $ns duplex-link $us $r1 $P(arate)Mb 0ms DropTail
    $ns duplex-link $r2 $ud $P(arate)Mb 0ms DropTail
    set u [new Agent/UDP]; $u set packetSize_ $P(pkt); set nul [new Agent/Null]
    $ns attach-agent $us $u; $ns attach-agent $ud $nul; $ns connect $u $nul
    $u set fid_ 99
    set pr [new RNG]; for {set i 0} {$i < $P(seed)} {incr i} {$pr next-substream}
    set px [new RandomVariable/Exponential]; $px use-rng $pr
    $px set avg_ [expr {$P(pkt)*8e-6/$P(poisson)}]
    proc poke {} {global ns u px P; $u send $P(pkt); $ns at [expr {[$ns now]+[$px value]}] poke}
    $ns at 0.0 poke
}
proc cw {i} {global tcp kind
    if {$kind($i) eq "tcp"} {return [$tcp($i) set cwnd_]}
    return 0
}
proc acked {i} {global tcp kind sink
    if {$kind($i) eq "tcp"} {return [expr {[$tcp($i) set ack_]+1}]}
    return [$tcp($i) set ndatapack_]
}
if {$P(out) ne ""} {
    set qm [$ns monitor-queue $r1 $r2 "" 0.1]
    if {$P(flowmon)} {
        set fm [$ns makeflowmon Fid]
        $ns attach-fmon [$ns link $r1 $r2] $fm 0
    }
    set tr [open $P(out).trace.csv w]
    set h "t,qlen,drops"; for {set i 0} {$i < $n} {incr i} {append h ",cwnd$i,acked$i"}
    puts $tr $h
    for {set i 0} {$i < $n} {incr i} {set sum($i) 0.0; set sumw($i) 0.0; set a0($i) 0; set sent0($i) 0}
    set ns1 0; set nsw 0; set qs 0.0; set qsw 0.0; set qmax 0; set d0 0; set dep0 0; set nrow 0
    set every [expr {int($P(ts)/$P(ss)+0.5)}]
    proc sample {} {
        global ns P n sum sumw ns1 nsw qs qsw qm nrow every tr qmax
        set now [$ns now]
        set q [$qm set pkts_]
        set w [expr {$now >= $P(warm)}]
        incr ns1; set qs [expr {$qs+$q}]; if {$q>$qmax} {set qmax $q}
        if {$w} {incr nsw; set qsw [expr {$qsw+$q}]}
        for {set i 0} {$i < $n} {incr i} {
            set c [cw $i]; set sum($i) [expr {$sum($i)+$c}]
            if {$w} {set sumw($i) [expr {$sumw($i)+$c}]}
        }
        if {$nrow % $every == 0} {
            set l [format "%.3f,%d,%d" $now $q [$qm set pdrops_]]
            for {set i 0} {$i < $n} {incr i} {append l "," [format %.3f [cw $i]] "," [acked $i]}
            puts $tr $l
        }
        incr nrow
        $ns at [expr {$nrow*$P(ss)+$P(ss)/2.0}] sample
    }
    $ns at [expr {$P(ss)/2.0}] sample
    proc warmmark {} {
        global n a0 d0 dep0 qm sent0 tcp
        for {set i 0} {$i < $n} {incr i} {set a0($i) [acked $i]; set sent0($i) [$tcp($i) set ndatapack_]}
        set d0 [$qm set pdrops_]; set dep0 [$qm set pdepartures_]
    }
    $ns at $P(warm) warmmark
    if {$P(rt) > 0} {
        set rf [open $P(out).rate.csv w]
        set h t; for {set i 0} {$i < $n} {incr i} {append h ",sent$i"}; puts $rf $h
        set nrt 0
        proc rsample {} {
            global ns n tcp rf P nrt
            set l [format %.4f [$ns now]]
            for {set i 0} {$i < $n} {incr i} {append l "," [$tcp($i) set ndatapack_]}
            puts $rf $l
            incr nrt
            $ns at [expr {$nrt*$P(rt)}] rsample
        }
        $ns at 0.0 rsample
    }
}
proc finish {} {
    global ns P n tcp name sacc sstart sum sumw ns1 nsw a0 d0 dep0 qm qs qsw fm tr qmax sent0 rf kind lossmon
    set T [$ns now]; set tot 0
    for {set i 0} {$i < $n} {incr i} {incr tot [acked $i]}
    puts "RESULT delivered_pkts=$tot"
    for {set i 0} {$i < $n} {incr i} {
        puts "FLOW $i $name($i) acked=[acked $i] mbps=[format %.4f [expr {[acked $i]*$P(pkt)*8e-6/$T}]]"
    }
    if {$P(out) ne ""} {
        if {$P(flowmon)} {
            foreach fl [$fm flows] {set pd([$fl set flowid_]) [$fl set pdrops_]; set pa([$fl set flowid_]) [$fl set parrivals_]}
        }
        set f [open $P(out).flows.csv w]
        puts $f "flow,variant,rtt_ms,start_s,goodput_mbps,goodput_mbps_warm,mean_cwnd,mean_cwnd_warm,acked_pkts,sent_pkts,rexmit_pkts,cwndcuts,timeouts,queue_drops"
        for {set i 0} {$i < $n} {incr i} {
            set W [expr {$T-$P(warm)}]; if {$W <= 0} {set W 1e-9}
            set g [expr {[acked $i]*$P(pkt)*8e-6/$T}]
            set gw [expr {([acked $i]-$a0($i))*$P(pkt)*8e-6/$W}]
            set dr -1; if {[info exists pd($i)]} {set dr $pd($i)}
            if {$kind($i) eq "tcp"} {
                set rx [$tcp($i) set nrexmitpack_]; set cc [$tcp($i) set ncwndcuts_]; set to [$tcp($i) set nrexmit_]
            } else {set rx 0; set cc 0; set to 0}
            puts $f [format "%d,%s,%g,%g,%.5f,%.5f,%.3f,%.3f,%s,%s,%s,%s,%s,%s" $i $name($i) \
                [expr {2*($P(delay)+2*$sacc($i))}] $sstart($i) $g $gw [expr {$sum($i)/$ns1}] [expr {$nsw>0?$sumw($i)/$nsw:0}] \
                [acked $i] [$tcp($i) set ndatapack_] $rx $cc $to $dr]
        }
        close $f
        set f [open $P(out).link.csv w]
        puts $f "queue_arrivals,queue_departures,queue_drops,queue_drops_warm,bernoulli_losses,mean_qlen,mean_qlen_warm,max_qlen_sampled,utilisation,utilisation_warm"
        set dep [$qm set pdepartures_]
        puts $f [format "%s,%s,%s,%s,%s,%.3f,%.3f,%s,%.6f,%.6f" [$qm set parrivals_] $dep [$qm set pdrops_] \
          [expr {[$qm set pdrops_]-$d0}] [expr {$lossmon eq "" ? 0 : [$lossmon set npkts_]}] [expr {$qs/$ns1}] [expr {$nsw>0?$qsw/$nsw:0}] $qmax \
          [expr {$dep*$P(pkt)*8e-6/($P(rate)*$T)}] [expr {($dep-$dep0)*$P(pkt)*8e-6/($P(rate)*$W)}]]
        close $f; close $tr
        if {$P(rt) > 0} {close $rf}
    }
    if {$P(drops)} {global dtf; flush $dtf; close $dtf}
    flush stdout
    exit 0
}
$ns at $P(T) finish
$ns run
