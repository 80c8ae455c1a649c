import TestKit
import Testing

@testable import CurlClient

@Suite struct DeadlineQueueTests {
    let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    @Test func popsTheEarliestDueKey() {
        var queue = DeadlineQueue<String>()
        queue.add("late", at: at(9))
        queue.add("early", at: at(1))
        queue.add("middle", at: at(5))
        #expect(queue.earliest == at(1))
        #expect(queue.popDue(at: at(0)) == nil)
        #expect(queue.popDue(at: at(6)) == "early")
        #expect(queue.popDue(at: at(6)) == "middle")
        #expect(queue.popDue(at: at(6)) == nil)
        #expect(queue.popDue(at: at(9)) == "late")
        #expect(queue.isEmpty)
    }

    @Test func keepsTheEarlierDeadlineOfAKey() {
        var queue = DeadlineQueue<String>()
        queue.add("a", at: at(5))
        queue.add("b", at: at(4))
        queue.add("a", at: at(7))
        queue.add("a", at: at(3))
        #expect(queue.popDue(at: at(10)) == "a")
        #expect(queue.popDue(at: at(10)) == "b")
        #expect(queue.popDue(at: at(10)) == nil)
    }

    @Test func matchesASortedListForRandomOperations() {
        var random = SplitMix64(state: 26)
        var queue = DeadlineQueue<Int>()
        var model: [Int: Int] = [:]
        for _ in 0..<5_000 {
            let key = Int.random(in: 0..<200, using: &random)
            let moment = Int.random(in: 0..<1_000_000, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                queue.remove(key)
                model[key] = nil
            case 1:
                // Keys with equal deadlines may come in any order, so the deadlines are compared.
                let earliest = model.values.min()
                #expect(queue.earliest == earliest.map { at($0) })
                if let earliest, let popped = queue.popDue(at: at(earliest)) {
                    #expect(model.removeValue(forKey: popped) == earliest)
                }
            default:
                queue.add(key, at: at(moment))
                model[key] = min(moment, model[key] ?? .max)
            }
        }
        var drained: [Int] = []
        while let key = queue.popDue(at: at(1_000_000)) { drained.append(model.removeValue(forKey: key) ?? -1) }
        #expect(drained == drained.sorted())
        #expect(model.isEmpty)
    }
}
