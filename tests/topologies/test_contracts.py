"""The contract suites of ``tests/contracts`` on a Redis Cluster; those in ``ON_EVERY_SHAPE`` on Sentinels and TLS too.

Only a Cluster can refuse a command that a single server accepts, because keys lie on different nodes and pipelines are
split. So every suite runs there. With Sentinels or TLS the commands reach one ordinary server and only the connection
differs. The suites listed here cover what a connection carries: blocking reads, scripts, transactions, leases and
binary dumps.
"""

from tests.contracts.test_catalog import TestRedisCatalogue
from tests.contracts.test_channel_settings import TestRedisAudit, TestRedisPreferences
from tests.contracts.test_checkpoints import TestRedisCheckpoints
from tests.contracts.test_feedback import TestRedisFeedbackBox
from tests.contracts.test_inbox import TestRedisInbox
from tests.contracts.test_job_store import (
    TestRedisJobs,
    test_two_inboxes_of_different_namespaces_know_nothing_of_each_other,
)
from tests.contracts.test_memory import TestRedisMemory
from tests.contracts.test_message_state import TestRedis as TestRedisMessageState
from tests.contracts.test_processes import TestRedisNamedLeases, TestRedisProcessRegistry
from tests.contracts.test_proposal_store import TestRedisProposalStore
from tests.contracts.test_redis_export import (
    test_keys_of_every_kind_come_back_as_they_were,
    test_questions_that_wait_stay_behind_and_jobs_come_along,
)
from tests.contracts.test_schedule_store import TestRedisScheduleStore
from tests.contracts.test_schema import test_redis_of_a_newer_version_is_not_touched
from tests.contracts.test_site_store import TestRedisSiteStore
from tests.contracts.test_trace_store import TestRedisJournal
from tests.contracts.test_trash_store import TestRedisTrashStore

ON_EVERY_SHAPE = {
    TestRedisInbox,
    TestRedisMessageState,
    TestRedisNamedLeases,
    test_keys_of_every_kind_come_back_as_they_were,
    test_redis_of_a_newer_version_is_not_touched,
}

__all__ = [
    "TestRedisAudit",
    "TestRedisCatalogue",
    "TestRedisCheckpoints",
    "TestRedisFeedbackBox",
    "TestRedisInbox",
    "TestRedisJobs",
    "TestRedisJournal",
    "TestRedisMemory",
    "TestRedisMessageState",
    "TestRedisNamedLeases",
    "TestRedisPreferences",
    "TestRedisProcessRegistry",
    "TestRedisProposalStore",
    "TestRedisScheduleStore",
    "TestRedisSiteStore",
    "TestRedisTrashStore",
    "test_keys_of_every_kind_come_back_as_they_were",
    "test_questions_that_wait_stay_behind_and_jobs_come_along",
    "test_redis_of_a_newer_version_is_not_touched",
    "test_two_inboxes_of_different_namespaces_know_nothing_of_each_other",
]
