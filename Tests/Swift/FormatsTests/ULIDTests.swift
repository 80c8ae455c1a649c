import Formats
import Foundation
import Testing

private let now = Date(milliseconds: 1_566_228_194_250)

@Suite struct ULIDTests {
    @Test func sortsInOrderOfCreation() {
        var sequence = ULIDSequence()
        let earlier = now.addingTimeInterval(-60)
        let times = (0..<500).map { $0 % 3 == 0 ? earlier : now }
        let made = times.map { sequence.next(at: $0).description }
        #expect(made == made.sorted())
        #expect(Set(made).count == made.count)
    }

    @Test func parsesWrittenULIDs() throws {
        var sequence = ULIDSequence()
        for _ in 0..<100 {
            let ulid = sequence.next(at: now)
            #expect(ULID(ulid.description) == ulid)
        }
        #expect(ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")?.description == "01ARZ3NDEKTSV4RRFFQ69G5FAV")
        #expect(ULID("7ZZZZZZZZZZZZZZZZZZZZZZZZZ") != nil)
        for text in ["", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAU"] {
            #expect(ULID(text) == nil)
        }
    }

    @Test func continuesAboveLastULIDAfterRestartWithEarlierClock() {
        var first = ULIDSequence()
        let last = first.next(at: now)
        var second = ULIDSequence(after: last)
        #expect(second.next(at: now.addingTimeInterval(-3600)) > last)
    }
}
