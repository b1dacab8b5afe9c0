# One TCP flow with SACK over one bottleneck, for ns-2: the least that ns-2 needs for it.
#   usage: ns ns2.tcl RATE_MBPS ONE_WAY_DELAY_MS QUEUE_PACKETS SECONDS [HEADER ...]
# With headers its packets have only these, not all that ns-2 knows, and are far cheaper.
# Packets of 1000 bytes, ACKs of 40, as in the scenario next to it. Prints the number of data packets sent.
set headers [lassign $argv rate delay queue seconds]
if {[llength $headers]} {
    remove-all-packet-headers
    add-packet-header {*}$headers
}
set ns [new Simulator]
# Window and ssthresh without limit, an initial window of 2 packets, time stamps, a clock of 1 ms.
Agent/TCP set window_ 10000000
Agent/TCP set windowInit_ 2
Agent/TCP set packetSize_ 1000
Agent/TCP set useHeaders_ false
Agent/TCP set timestamps_ true
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
Agent/TCPSink set packetSize_ 40
Agent/TCPSink set ts_echo_rfc1323_ true

set near [$ns node]
set far [$ns node]
$ns duplex-link $near $far ${rate}Mb ${delay}ms DropTail
$ns queue-limit $near $far $queue
$ns queue-limit $far $near $queue
set tcp [new Agent/TCP/Sack1]
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $near $tcp
$ns attach-agent $far $sink
$ns connect $tcp $sink
set source [new Application/FTP]
$source attach-agent $tcp
$ns at 0.0 "$source start"
$ns at $seconds {puts [$tcp set ndatapack_]; exit 0}
$ns run
