import Testing

@testable import API
@testable import Base

@Suite struct ExpositionTests {
    @Test func writesGaugesAndCounters() {
        var exposition = Exposition()
        exposition.gauge("jobs", "Jobs by state.", [(["state": "queued"], 3), (["state": "a \"b\"\n"], 0.25)])
        exposition.counter("events_total", "Events.", 17)
        #expect(
            exposition.text == """
                # HELP jobs Jobs by state.
                # TYPE jobs gauge
                jobs{state="queued"} 3
                jobs{state="a \\"b\\"\\n"} 0.25
                # HELP events_total Events.
                # TYPE events_total counter
                events_total 17

                """)
    }

    /// Buckets are cumulative, and the last one counts everything.
    @Test func writesHistogramWithCumulativeBuckets() {
        var exposition = Exposition()
        let turns = Histogram(bounds: [0.001, 1], counts: [5, 2, 1], sum: 4.5)
        exposition.histogram("turn_seconds", "Turns.", [(["loop": "downloads"], turns)])
        #expect(
            exposition.text == """
                # HELP turn_seconds Turns.
                # TYPE turn_seconds histogram
                turn_seconds_bucket{le="0.001",loop="downloads"} 5
                turn_seconds_bucket{le="1",loop="downloads"} 7
                turn_seconds_bucket{le="+Inf",loop="downloads"} 8
                turn_seconds_sum{loop="downloads"} 4.5
                turn_seconds_count{loop="downloads"} 8

                """)
    }
}
