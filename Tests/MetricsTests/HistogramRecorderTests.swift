import Metrics
import Testing

@Suite struct HistogramRecorderTests {
    @Test(arguments: DurationScale.allCases) func countsADurationInTheFirstBucketThatHoldsIt(_ scale: DurationScale) {
        let recorder = HistogramRecorder(scale)
        for bound in scale.bounds { recorder.record(seconds: bound) }
        recorder.record(seconds: (scale.bounds.last ?? 0) + 1)
        let histogram = recorder.snapshot
        #expect(histogram.bounds == scale.bounds)
        #expect(histogram.counts == Array(repeating: 1, count: scale.bounds.count + 1))
        let sum = scale.bounds.reduce(0, +) + (scale.bounds.last ?? 0) + 1
        #expect(abs(histogram.sum - sum) < 1e-6)
    }

    @Test(arguments: DurationScale.allCases) func theBoundsAscend(_ scale: DurationScale) {
        #expect(zip(scale.bounds, scale.bounds.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func aNegativeDurationCountsAsNone() {
        let recorder = HistogramRecorder(.disk)
        recorder.record(seconds: -1)
        #expect(recorder.snapshot.counts.first == 1 && recorder.snapshot.sum == 0)
    }

    @Test func losesNoRecordOfManyThreads() async {
        let recorder = HistogramRecorder(.answers)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { recorder.record(seconds: 0.002) } }
            }
        }
        #expect(recorder.snapshot.counts.reduce(0, +) == 8_000)
        #expect(abs(recorder.snapshot.sum - 16) < 1e-6)
    }

    @Test func readsTheProcess() throws {
        let process = ProcessReading()
        #expect(try #require(process.openDescriptors) >= 3)
        #expect(try #require(process.mostDescriptors) >= #require(process.openDescriptors))
        #expect(try #require(process.residentBytes) > 1 << 20)
        #expect(try #require(process.virtualBytes) >= #require(process.residentBytes))
        #expect(try #require(process.threads) >= 1)
        #expect(try #require(process.cpuSeconds) >= 0)
        // 2020-01-01.
        #expect(try #require(process.startTime) > 1_577_836_800)
    }
}
