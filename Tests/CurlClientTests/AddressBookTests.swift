import Testing

@testable import CurlClient

@Suite struct AddressBookTests {
    let now = ContinuousClock.now
    let transfers = (0..<5).map { _ in TransferID() }
    let address: IPAddress

    init() throws {
        address = try #require(IPAddress("192.0.2.1"))
    }

    private func ask(_ book: inout AddressBook, _ name: String, by transfer: Int, after seconds: Int = 0)
        -> AddressBook.Answer
    {
        book.ask(for: name, by: transfers[transfer], at: now + .seconds(seconds))
    }

    /// All that may begin now.
    private func begin(_ book: inout AddressBook) -> [String] {
        var begun: [String] = []
        while let name = book.beginLookup() { begun.append(name) }
        return begun
    }

    @Test func oneLookupForAllWhoAsk() {
        var book = AddressBook(limit: 9)
        for transfer in 0..<3 { #expect(ask(&book, "a", by: transfer) == .awaited) }
        #expect(book.beginLookup() == "a")
        #expect(book.beginLookup() == nil)
        // Nor is there another while it runs.
        #expect(ask(&book, "a", by: 3) == .awaited)
        #expect(book.beginLookup() == nil)
        #expect(book.settle("a", [address], at: now) == Set(transfers[0...3]))
        #expect(ask(&book, "a", by: 4) == .found([address]))
        #expect(book.runningCount == 0 && book.queuedCount == 0)
    }

    @Test func whatWasFoundHoldsForAMinute() {
        var book = AddressBook(limit: 9)
        _ = ask(&book, "a", by: 0)
        _ = book.beginLookup()
        _ = book.settle("a", [address], at: now)
        #expect(ask(&book, "a", by: 0, after: 59) == .found([address]))
        #expect(ask(&book, "a", by: 0, after: 60) == .awaited)
        #expect(book.beginLookup() == "a")
    }

    @Test func whatWasNotFoundIsLookedUpAgain() {
        var book = AddressBook(limit: 9)
        _ = ask(&book, "a", by: 0)
        _ = book.beginLookup()
        #expect(book.settle("a", [], at: now) == [transfers[0]])
        #expect(ask(&book, "a", by: 0) == .awaited)
        #expect(book.beginLookup() == "a")
    }

    @Test func noMoreThanTheLimitAndTheOldestFirst() {
        var book = AddressBook(limit: 2)
        for (second, name) in ["a", "b", "c", "d"].enumerated() { _ = ask(&book, name, by: second, after: second) }
        #expect(begin(&book) == ["a", "b"])
        #expect(book.runningCount == 2 && book.queuedCount == 2)
        _ = book.settle("b", [], at: now)
        #expect(begin(&book) == ["c"])
    }

    /// It runs on, and holds its place: whoever comes back waits for the same one.
    @Test func aLookupThatNobodyWaitsForIsNotBegunTwice() {
        var book = AddressBook(limit: 2)
        _ = ask(&book, "a", by: 0)
        _ = book.beginLookup()
        book.forget(transfers[0], waitingFor: "a")
        #expect(book.runningCount == 1)
        #expect(ask(&book, "a", by: 1) == .awaited)
        #expect(book.beginLookup() == nil)
        #expect(book.settle("a", [address], at: now) == [transfers[1]])
        // And what it finds when nobody waits is remembered.
        _ = ask(&book, "b", by: 0)
        _ = book.beginLookup()
        book.forget(transfers[0], waitingFor: "b")
        #expect(book.settle("b", [address], at: now) == [])
        #expect(ask(&book, "b", by: 0) == .found([address]))
    }

    @Test func aLookupThatHasNotBegunIsDroppedWithTheLastWhoWaits() {
        var book = AddressBook(limit: 1)
        for (transfer, name) in ["a", "b", "b", "c"].enumerated() {
            _ = ask(&book, name, by: transfer, after: transfer)
        }
        #expect(book.beginLookup() == "a")
        book.forget(transfers[1], waitingFor: "b")
        #expect(book.queuedCount == 2)
        book.forget(transfers[2], waitingFor: "b")
        #expect(book.queuedCount == 1)
        _ = book.settle("a", [], at: now)
        #expect(book.beginLookup() == "c")
        #expect(book.settle("b", [], at: now) == [])
    }

    @Test func withoutAThreadItWaitsForTheEndOfAnother() {
        var book = AddressBook(limit: 9)
        _ = ask(&book, "a", by: 0)
        #expect(book.beginLookup() == "a")
        _ = ask(&book, "b", by: 1, after: 1)
        #expect(book.beginLookup() == "b")
        let isPostponed = book.postpone("b", at: now + .seconds(1))
        #expect(isPostponed)
        #expect(book.runningCount == 1 && book.queuedCount == 1)
        _ = book.settle("a", [], at: now)
        #expect(book.beginLookup() == "b")
        // There is no other.
        let isPostponedAgain = book.postpone("b", at: now)
        #expect(!isPostponedAgain)
        #expect(book.settle("b", [], at: now) == [transfers[1]])
    }
}
