# One TFRC flow over a path that loses at random: 100 Mbit/s, RTT 100 ms, no queue. Keys: out=PREFIX
# seed=N loss=PROBABILITY. Spacings are random by half. Writes PREFIX.tfrc.csv: packets sent in 100 ms
# from 50 s to 1000 s, their mean and their coefficient of variation.
foreach word $argv {
    lassign [split $word =] key value
    set given($key) $value
}
ns-random $given(seed)
Agent/TFRC set packetSize_ 1000
Agent/TFRC set overhead_ 0.5

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns duplex-link $from $to 100Mb 50ms DropTail
$ns queue-limit $from $to 10000
set loss [new ErrorModel]
$loss unit pkt
$loss set rate_ $given(loss)
$loss ranvar [new RandomVariable/Uniform]
$loss drop-target [new Agent/Null]
$ns lossmodel $loss $from $to
set flow [$ns create-connection TFRC $from TFRCSink $to 0]
$ns at 0.0 "$flow start"

set before 0
set counts {}
proc sample {} {
    global ns flow before counts
    set sent [$flow set ndatapack_]
    if {[$ns now] > 50.05} { lappend counts [expr {$sent - $before}] }
    set before $sent
    $ns at [expr {[$ns now] + 0.1}] sample
}
proc finish {} {
    global counts given
    set sum 0.0
    set squares 0.0
    foreach count $counts {
        set sum [expr {$sum + $count}]
        set squares [expr {$squares + $count * $count}]
    }
    set mean [expr {$sum / [llength $counts]}]
    set variance [expr {$squares / [llength $counts] - $mean * $mean}]
    set file [open $given(out).tfrc.csv w]
    puts $file [format "%.4f,%.4f" $mean [expr {sqrt($variance) / $mean}]]
    close $file
    exit 0
}
$ns at 0.1 sample
$ns at 1000.01 finish
$ns run
