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
        #expect(window.take(3 * read) == .open)
        #expect(window.take(1) == .closed)
        #expect(window.take(read - 1) == .closed)
        #expect(window.take(1) == .refused)
        #expect(window.giveBack(2 * read - 1) == false)
        #expect(window.giveBack(1) == true)
        #expect(window.take(read) == .open)
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
