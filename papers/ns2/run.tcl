# One scenario of a paper in ns-2.35: flows over one bottleneck, as papers/ns2/bridge.py describes them.
#   usage: ns run.tcl DESCRIPTION OUTPUT
# DESCRIPTION is Tcl: it calls bottleneck, flow, change and go, each with keys and values. OUTPUT gets a row per
# poll: time, waiting packets, drops and departed bytes of the bottleneck's queue, and then of every flow
# window, ssthresh, packets acknowledged in order, packets sent, window cuts and timeouts (rates have no window).
set ns [new Simulator]
set UNLIMITED 10000000
set flows {}
set losses {}

Agent/TCP set useHeaders_ false
Agent/TFRC set useHeaders_ false
Queue/DropTail set limit_ $UNLIMITED

# Discipline of a direction of the bottleneck.
proc discipline {from to queue} {
    global ns
    $ns queue-limit $from $to [dict get $queue limit]
    if {[dict get $queue kind] eq "DropTail"} return
    set object [[$ns link $from $to] queue]
    foreach {variable value} [dict get $queue variables] {$object set $variable $value}
}

proc bottleneck {description} {
    global ns link near far monitor
    set link $description
    set near [$ns node]; set far [$ns node]
    dict with description {
        $ns simplex-link $near $far $rate $delay [dict get $queue kind]
        $ns simplex-link $far $near $rate $delay [dict get $reverse kind]
    }
    discipline $near $far [dict get $link queue]
    discipline $far $near [dict get $link reverse]
    set monitor [$ns monitor-queue $near $far ""]
}

# A model of random or periodic loss at the beginning of a flow's path, so that flows do not share its counter.
proc lose {from to} {
    global ns link losses
    lassign [dict get $link loss] kind rate
    if {$kind eq "none"} return
    if {$kind eq "periodic"} {
        set model [new ErrorModel/Periodic]
        $model set burstlen_ 1
    } else {
        set model [new ErrorModel]
        $model ranvar [new RandomVariable/Uniform]
    }
    $model unit pkt
    $model drop-target [new Agent/Null]
    $ns link-lossmodel $model $from $to
    lappend losses $model
    set_loss $model $kind $rate
}

proc set_loss {model kind rate} {
    if {$kind eq "periodic"} {$model set period_ [expr {round(1.0/$rate)}]} else {$model set rate_ $rate}
}

proc change {at kind rate} {
    global ns losses
    foreach model $losses {$ns at $at [list set_loss $model $kind $rate]}
}

# The nodes at the ends of a flow's path. Flows with equal delays share them, because ns-2's routes take long to
# compute for many nodes, unless a limit or a loss must be each flow's own.
proc ends {access access_ms direction} {
    global ns near far link shared UNLIMITED
    set key [list $access_ms $direction]
    if {[info exists shared($key)]} {return $shared($key)}
    set from [$ns node]; set to [$ns node]
    lassign [expr {$direction eq "forward" ? [list $near $far] : [list $far $near]}] first last
    set rate [expr {$access eq "unlimited" ? "100000Mb" : $access}]
    foreach {a b} [list $from $first $last $to] {
        $ns duplex-link $a $b $rate ${access_ms}ms DropTail
        foreach {x y} [list $a $b $b $a] {$ns queue-limit $x $y $UNLIMITED}
    }
    lose $from $first
    if {$access eq "unlimited" && [lindex [dict get $link loss] 0] eq "none"} {
        set shared($key) [list $from $to]
    }
    return [list $from $to]
}

# `agent` and `sink` are classes with their variables, `algorithm` is a module of TCP-Linux, and `pages` makes it a web session instead of a bulk transfer: mean thinking time, mean packets and shape.
proc flow {description} {
    global ns flows
    dict with description {}
    lassign [ends $access $access_ms $direction] from to
    set index [llength $flows]
    set sender [new $agent]
    set receiver [new $sink]
    foreach {variable value} $sink_variables {$receiver set $variable $value}
    if {$agent eq "Agent/UDP"} {
        set source [new Application/Traffic/Exponential]
        $source attach-agent $sender
    } else {
        set source $sender
    }
    foreach {variable value} $variables {$source set $variable $value}
    $ns attach-agent $from $sender
    $ns attach-agent $to $receiver
    $ns connect $sender $receiver
    $sender set fid_ $index
    if {[string match Agent/TCP/* $agent]} {
        if {$algorithm ne ""} {$ns at 0.0 "$sender select_ca $algorithm"}
        if {$ssthresh ne "unlimited"} {$ns at 0.0 "$sender set ssthresh_ $ssthresh"}
        set source [new Application/FTP]
        $source attach-agent $sender
        if {[llength $pages]} {
            $sender proc done {} [list next_page $sender $pages]
            $ns at $start [list next_page $sender $pages]
        }
    }
    if {![llength $pages]} {
        $ns at $start "$source start"
        if {$stop ne ""} {$ns at $stop "$source stop"}
    }
    set kind [lindex [split $agent /] 1]
    lappend flows [list $sender $kind]
}

# A page of a session: thinking time, then objects whose number is geometric and whose sizes are Pareto's.
proc next_page {sender pages} {
    global ns
    lassign $pages think objects size shape
    set count 1
    while {[uniform] > 1.0/$objects} {incr count}
    set packets 0
    for {set i 0} {$i < $count} {incr i} {
        incr packets [expr {int(ceil($size*($shape-1)/$shape/pow(1-[uniform], 1.0/$shape)))}]
    }
    $ns at [expr {[$ns now] - $think*log(1-[uniform])}] "$sender advanceby $packets"
}

proc uniform {} {
    global defaultRNG
    return [$defaultRNG uniform 0 1]
}

proc poll {} {
    global ns flows monitor output number every
    set row [format "%.6f,%d,%d,%.0f" [$ns now] [$monitor set pkts_] [$monitor set pdrops_] [$monitor set bdepartures_]]
    foreach flow $flows {
        lassign $flow sender kind
        if {$kind eq "TCP"} {
            append row "," [join [list [format %.4f [$sender set cwnd_]] [$sender set ssthresh_] \
                [expr {[$sender set ack_]+1}] [$sender set ndatapack_] [$sender set ncwndcuts_] \
                [$sender set nrexmit_]] ","]
        } elseif {$kind eq "TFRC"} {
            append row ",,,[$sender set ndatapack_],[$sender set ndatapack_],0,0"
        } else {
            append row ",,,0,0,0,0"
        }
    }
    puts $output $row
    incr number
    $ns at [expr {$number*$every}] poll
}

# Say how many packets of each flow the bottleneck's queue has dropped, with a sign for a difference.
proc drops {sign} {
    global counts
    foreach flow [$counts flows] {puts "dropped $sign [$flow set flowid_] [$flow set pdrops_]"}
}

proc go {seed warmup duration interval} {
    global ns near far defaultRNG number every output counts argv
    $defaultRNG seed $seed
    set every $interval
    set number 1
    set output [open [lindex $argv 1] w]
    set counts [$ns makeflowmon Fid]
    $ns attach-fmon [$ns link $near $far] $counts 0
    $ns at $warmup "drops -"
    $ns at $every poll
    $ns at [expr {$duration + $interval/2.0}] "drops +; close $output; exit 0"
    $ns run
}

source [lindex $argv 0]
