import Testing

@testable import CurlClient

@Suite struct WindowTests {
    @Test func closesWhenFullAndOpensWhenHalfFree() {
        var window = Window(capacity: 100)
        #expect(window.take(60) == .open)
        #expect(window.take(40) == .open)
        #expect(window.take(1) == .refused)
        #expect(window.isClosed)
        #expect(window.giveBack(40) == false)
        #expect(window.giveBack(10) == true)
        #expect(!window.isClosed)
        #expect(window.held == 50)
    }

    @Test func releaseOpensOnlyAClosedWindow() {
        var window = Window(capacity: 100)
        #expect(window.take(100) == .open)
        #expect(window.giveBack(100) == false)
    }

    @Test func emptyWindowAcceptsAnySize() {
        var window = Window(capacity: 10)
        #expect(window.take(1_000) == .open)
        #expect(window.take(1) == .refused)
        #expect(window.giveBack(1_000) == true)
    }

    /// What libcurl has read already still finds room.
    @Test func closesBeforeAReadFindsNoRoom() {
        let read = Window.largestRead
        var window = Window(capacity: 4 * read)
        #expect(window.openRoom == 3 * read)
        #expect(window.take(3 * read) == .open)
        #expect(window.openRoom == 0)
        #expect(window.take(1) == .closed)
        #expect(window.openRoom == 0)
        #expect(window.take(read - 1) == .closed)
        #expect(window.take(1) == .refused)
        #expect(window.giveBack(2 * read - 1) == false)
        #expect(window.giveBack(1) == true)
        #expect(window.take(read) == .open)
    }

    /// Of a transfer that holds bytes while all together hold too many.
    @Test func scarceWindowClosesAfterOneReadUntilItIsEmpty() {
        var window = Window(capacity: 100)
        #expect(window.take(10, isScarce: true) == .closed)
        #expect(window.take(10, isScarce: true) == .closed)
        #expect(window.take(81, isScarce: true) == .refused)
        #expect(window.giveBack(19) == false)
        #expect(window.giveBack(1) == true)
        // Nothing would open a window that is closed without a byte.
        #expect(window.take(0, isScarce: true) == .open)
        // What was not scarce when it closed, and is now.
        #expect(window.take(100) == .open)
        #expect(window.take(1) == .refused)
        #expect(window.take(1, isScarce: true) == .refused)
        #expect(window.giveBack(99) == false)
        #expect(window.giveBack(1) == true)
    }

    /// Such as the window of a transfer that was cancelled with an unfinished chunk.
    @Test func droppedWindowHoldsNothing() throws {
        let total = HeldBytes(limit: 10)
        let mailbox = try Mailbox()
        do {
            let window = SharedWindow(of: TransferID(), capacity: 100, within: total, mailbox: mailbox)
            #expect(window.take(11) == .open)
            #expect(total.exceedLimit)
        }
        #expect(!total.exceedLimit)
    }

    @Test func hasRoomDoesNotTakeRoom() {
        var window = Window(capacity: 10)
        #expect(window.take(8) == .open)
        #expect(!window.hasRoom(for: 3))
        #expect(window.hasRoom(for: 2))
        #expect(!window.isClosed)
        #expect(window.held == 8)
    }
}
