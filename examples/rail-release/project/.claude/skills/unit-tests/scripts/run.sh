#!/bin/sh
node --test
