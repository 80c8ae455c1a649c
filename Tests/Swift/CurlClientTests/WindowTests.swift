import Testing

@testable import CurlClient

@Suite struct WindowTests {
    @Test func closesWhenFullAndOpensWhenHalfFree() {
        var window = Window(capacity: 100)
        #expect(window.take(60) == true)
        #expect(window.take(40) == true)
        #expect(window.take(1) == false)
        #expect(window.isClosed)
        #expect(window.giveBack(40) == false)
        #expect(window.giveBack(10) == true)
        #expect(!window.isClosed)
        #expect(window.held == 50)
    }

    @Test func releaseOpensOnlyAClosedWindow() {
        var window = Window(capacity: 100)
        #expect(window.take(100) == true)
        #expect(window.giveBack(100) == false)
    }

    @Test func emptyWindowAcceptsAnySize() {
        var window = Window(capacity: 10)
        #expect(window.take(1_000) == true)
        #expect(window.take(1) == false)
        #expect(window.giveBack(1_000) == true)
    }

    @Test func hasRoomDoesNotTakeRoom() {
        var window = Window(capacity: 10)
        #expect(window.take(8) == true)
        #expect(!window.hasRoom(for: 3))
        #expect(window.hasRoom(for: 2))
        #expect(!window.isClosed)
        #expect(window.held == 8)
    }
}
