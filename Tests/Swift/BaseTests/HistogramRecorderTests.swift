import Base
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

    @Test func readsTheProcess() {
        let process = ProcessReading()
        let descriptors = process.openDescriptors ?? 0
        #expect(descriptors >= 3 && process.mostDescriptors ?? 0 >= descriptors)
        let resident = process.residentBytes ?? 0
        #expect(resident > 1_048_576 && process.virtualBytes ?? 0 >= resident)
        #expect(process.threads ?? 0 >= 1)
        #expect(process.cpuSeconds ?? -1 >= 0)
        // 2020-01-01.
        #expect(process.startTime ?? 0 > 1_577_836_800)
    }
}
