import Formats
import Testing

@testable import CurlClient

@Suite struct DNSCacheTests {
    let now = ContinuousClock.now
    let transfers = (0..<5).map { _ in TransferID() }
    let address: IPAddress

    init() throws {
        address = try #require(IPAddress("192.0.2.1"))
    }

    private func ask(_ cache: inout DNSCache, _ name: String, by transfer: Int, after seconds: Int = 0)
        -> [IPAddress]?
    {
        cache.lookUp(name, for: transfers[transfer], at: now + .seconds(seconds))
    }

    /// Starts all lookups that may run now.
    private func begin(_ cache: inout DNSCache) -> [String] {
        var begun: [String] = []
        while let name = cache.beginLookup() { begun.append(name) }
        return begun
    }

    @Test func sharesOneLookupBetweenTransfers() {
        var cache = DNSCache(limit: 9)
        for transfer in 0..<3 { #expect(ask(&cache, "a", by: transfer) == nil) }
        #expect(cache.beginLookup() == "a")
        #expect(cache.beginLookup() == nil)
        // No second lookup starts while it runs.
        #expect(ask(&cache, "a", by: 3) == nil)
        #expect(cache.beginLookup() == nil)
        #expect(cache.completeLookup("a", [address], at: now) == Set(transfers[0...3]))
        #expect(ask(&cache, "a", by: 4) == [address])
        #expect(cache.runningCount == 0 && cache.queuedCount == 0)
    }

    @Test func cachesAddressesForAMinute() {
        var cache = DNSCache(limit: 9)
        _ = ask(&cache, "a", by: 0)
        _ = cache.beginLookup()
        _ = cache.completeLookup("a", [address], at: now)
        #expect(ask(&cache, "a", by: 0, after: 59) == [address])
        #expect(ask(&cache, "a", by: 0, after: 60) == nil)
        #expect(cache.beginLookup() == "a")
    }

    @Test func doesNotCacheFailedLookups() {
        var cache = DNSCache(limit: 9)
        _ = ask(&cache, "a", by: 0)
        _ = cache.beginLookup()
        #expect(cache.completeLookup("a", [], at: now) == [transfers[0]])
        #expect(ask(&cache, "a", by: 0) == nil)
        #expect(cache.beginLookup() == "a")
    }

    @Test func startsAtMostTheLimitOldestFirst() {
        var cache = DNSCache(limit: 2)
        for (second, name) in ["a", "b", "c", "d"].enumerated() { _ = ask(&cache, name, by: second, after: second) }
        #expect(begin(&cache) == ["a", "b"])
        #expect(cache.runningCount == 2 && cache.queuedCount == 2)
        _ = cache.completeLookup("b", [], at: now)
        #expect(begin(&cache) == ["c"])
    }

    /// The lookup continues and counts against the limit. A later transfer waits for the same lookup.
    @Test func abandonedLookupIsSharedWithLaterTransfers() {
        var cache = DNSCache(limit: 2)
        _ = ask(&cache, "a", by: 0)
        _ = cache.beginLookup()
        cache.cancel(transfers[0], waitingFor: "a")
        #expect(cache.runningCount == 1)
        #expect(ask(&cache, "a", by: 1) == nil)
        #expect(cache.beginLookup() == nil)
        #expect(cache.completeLookup("a", [address], at: now) == [transfers[1]])
        // Its result is cached although no transfer waits.
        _ = ask(&cache, "b", by: 0)
        _ = cache.beginLookup()
        cache.cancel(transfers[0], waitingFor: "b")
        #expect(cache.completeLookup("b", [address], at: now) == [])
        #expect(ask(&cache, "b", by: 0) == [address])
    }

    @Test func queuedLookupIsDroppedWithItsLastTransfer() {
        var cache = DNSCache(limit: 1)
        for (transfer, name) in ["a", "b", "b", "c"].enumerated() {
            _ = ask(&cache, name, by: transfer, after: transfer)
        }
        #expect(cache.beginLookup() == "a")
        cache.cancel(transfers[1], waitingFor: "b")
        #expect(cache.queuedCount == 2)
        cache.cancel(transfers[2], waitingFor: "b")
        #expect(cache.queuedCount == 1)
        _ = cache.completeLookup("a", [], at: now)
        #expect(cache.beginLookup() == "c")
        #expect(cache.completeLookup("b", [], at: now) == [])
    }

    @Test func postponedLookupWaitsForTheEndOfAnother() {
        var cache = DNSCache(limit: 9)
        _ = ask(&cache, "a", by: 0)
        #expect(cache.beginLookup() == "a")
        _ = ask(&cache, "b", by: 1, after: 1)
        #expect(cache.beginLookup() == "b")
        let isPostponed = cache.postpone("b", at: now + .seconds(1))
        #expect(isPostponed)
        #expect(cache.runningCount == 1 && cache.queuedCount == 1)
        _ = cache.completeLookup("a", [], at: now)
        #expect(cache.beginLookup() == "b")
        // No other lookup runs.
        let isPostponedAgain = cache.postpone("b", at: now)
        #expect(!isPostponedAgain)
        #expect(cache.completeLookup("b", [], at: now) == [transfers[1]])
    }
}
